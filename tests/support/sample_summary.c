/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries made by hand: fixed parts as JSON, long lists by loops.  The figures of a sample fit
 * together (parts add up to their wholes), so that a reader of a rendered page may check it with a
 * pencil. */
#include "tests/support/sample_summary.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/summary_json.h"

#define US INT64_C(1000000)
#define MS INT64_C(1000000000)

const char *const tm_sample_name[TM_SAMPLES] = { "gpu", "tpu", "cpu", "empty", "hostile" };

/* --- the GPU run --- */

static const char gpu_head[] =
    "{'schema':'tracemill.summary','schema_version':2,'tool':{'name':'tracemill','version':'0.1.0'}"
    ","
    "'input':{'run':'2026_11_20_20_37_30','hosts':['trainer-7'],'partial':false,'files':[{'path':"
    "'plugins/profile/2026_11_20_20_37_30/"
    "trainer-7.xplane.pb','kind':'xspace','bytes':48211920,'xxh3':"
    "'90f3c1d4a7be2210','host':'trainer-7','events':914233,'origin_us':0,'clock_ns':0,'first_ps':0,'trace_ps':0,'"
    "archived':false,'partial':false,'problems':[],'notes':[]}]},"
    "'environment':{'platform':'gpu','hosts':[{'host':'trainer-7','jax':'0.8.1','jaxlib':'0.8.1',"
    "'platform_version':'PJRT C "
    "API','cuda':'12.8','cuda_runtime':12080,'driver':'570.86.10','rocm':null,"
    "'libtpu':null,'process_id':3120,'begin_ns':1795207050123456789,'end_ns':1795207052123456789,"
    "'profile_options':null,'why':{'rocm':'not an AMD device','libtpu':'not a "
    "TPU'}}],'devices':[{'model':"
    "'NVIDIA H100 80GB HBM3','vendor':'NVIDIA','kind':'gpu','count':2,'used':2,'core_count':132,"
    "'memory_bytes':85520809984,'memory_bandwidth_bytes':3352000000000,'peak_tflops':null}]},"
    "'coverage':{'events_read':914233,'events_used':901822,'classes':{'kernel':48211,'copy':930,'"
    "launch':49500},"
    "'tallies':{'derived':{'count':12011,'level':'note','help':'events of lines that viewers add; "
    "they are "
    "counted and in no figure'},'negative-duration':{'count':3,'level':'loss','help':'the duration "
    "was below "
    "zero; the event was kept with length 0'}},'warnings':['the profiler reported: CUPTI buffers "
    "were flushed late']},"
    "'window':{'mode':'steps','hosts':[{'host':'trainer-7','begin_ps':120400000000,'end_ps':"
    "560400000000,"
    "'span_ps':440000000000}],'total_ps':880000000000}}";

static const char gpu_tail[] =
    "{'unused':[],'total':{'devices':2,'window_ps':880000000000,'busy_ps':660000000000,'idle_ps':"
    "220000000000,"
    "'compute_ps':580000000000,'collective_ps':90000000000,'exposed_collective_ps':54000000000,'"
    "copy_ps':40000000000,"
    "'exposed_copy_ps':26000000000,'utilization_pct':75.0,'worst_device':'trainer-7/"
    "gpu:1','worst_utilization_pct':70.5},"
    "'transfers':{'by_direction':[{'direction':'h2d','count':620,'bytes':21474836480,'total_ps':"
    "31000000000,"
    "'exposed_ps':22000000000,'mean_bandwidth':24.1e9,'max_bandwidth':26.3e9,'unknown_bytes_count':"
    "0,'outside':"
    "{'count':12,'bytes':1048576,'total_ps':120000000}},{'direction':'d2h','count':310,'bytes':"
    "40960,'total_ps':"
    "9000000000,'exposed_ps':4000000000,'mean_bandwidth':4.5e6,'max_bandwidth':9.1e6,'unknown_"
    "bytes_count':0,'outside':"
    "{'count':0,'bytes':0,'total_ps':0}}],'by_pair':[{'from':'trainer-7','to':'trainer-7/"
    "gpu:0','count':310,"
    "'bytes':10737418240,'total_ps':15500000000}],'sizes':[{'from_bytes':64,'to_bytes':128,'count':"
    "310,'bytes':"
    "40960,'total_ps':9000000000},{'from_bytes':33554432,'to_bytes':67108864,'count':620,'bytes':"
    "21474836480,"
    "'total_ps':31000000000}],'pageable':{'count':620,'total_ps':31000000000,'share_pct':77.5},'"
    "largest':[{'device':"
    "'trainer-7/"
    "gpu:0','direction':'h2d','bytes':34636833,'begin_ps':130400123000,'dur_ps':1440000000}],'"
    "repeated':"
    "[{'direction':'h2d','bytes':34636833,'per_step':20.7,'count':620,'total_ps':31000000000}],'"
    "ping_pong':"
    "{'count':0},'tpu_host':[]},'ops':null,"
    "'scopes':{'self_ps':1000000000000,'unscoped':{'count':40,'self_ps':50000000000,'share_pct':4.8},"
    "'passes':{'forward':300000000000,'backward':650000000000,'other':50000000000},"
    "'recomputed':{'count':10,'self_ps':20000000000,'share_pct':1.9},'rows':["
    "{'path':'step','name':'step','depth':0,'pass':'backward','count':900,'self_ps':0,'total_ps':650000000000,"
    "'share_pct':61.9},{'path':'step/layer_0','name':'layer_0','depth':1,'pass':'backward','count':900,'self_ps':"
    "650000000000,'total_ps':650000000000,'share_pct':61.9},{'path':'step','name':'step','depth':0,'pass':'forward',"
    "'count':500,'self_ps':0,'total_ps':300000000000,'share_pct':28.6},{'path':'step/layer_0','name':'layer_0',"
    "'depth':1,'pass':'forward','count':500,'self_ps':300000000000,'total_ps':300000000000,'share_pct':28.6},"
    "{'path':'step','name':'step','depth':0,'pass':'other','count':9,'self_ps':50000000000,'total_ps':50000000000,"
    "'share_pct':4.8}],'rest':{'rows':3,'self_ps':0},'layers':["
    "{'layer':'layer_0','path':'step/layer_0','family':'step/layer_','count':700,'forward_ps':150000000000,"
    "'backward_ps':325000000000,'other_ps':0,'total_ps':475000000000},{'layer':'layer_1','path':'step/layer_1',"
    "'family':'step/layer_','count':700,'forward_ps':150000000000,'backward_ps':325000000000,'other_ps':0,'total_ps':"
    "475000000000}],'layers_rest':{'rows':0,'total_ps':0},'annotations':[{'path':'data_loading','name':'data_loading',"
    "'depth':0,'count':30,'host_ps':9000000000,'host_self_ps':8000000000,'device_ps':0,'activities':0},{'path':"
    "'data_loading/decode','name':'decode','depth':1,'count':30,'host_ps':1000000000,'host_self_ps':1000000000,"
    "'device_ps':0,'activities':0}],'annotations_rest':{'rows':0,'host_self_ps':0,'device_ps':0}},"
    "'collectives':{'total':{'count':400,"
    "'total_ps':90000000000,'bytes':2298656000,'unknown_bytes_count':0,'exposed_ps':54000000000,'overlap_pct':40},'"
    "rows':[{'kind':'all-"
    "reduce','message_bytes':5746640,'count':400,'exposed_ps':54000000000,'overlap_pct':40,'total_ps':90000000000,'"
    "mean_ps':225000000,"
    "'bytes':2298656000,'group_size':8,'data_type':'BFloat16'}],'rest':{'rows':0,'count':0,"
    "'total_ps':0,'exposed_ps':0},"
    "'skew':{'communicators':1,'matched':400,'unmatched':0,'checked':400,'overlapping_pct':100,'late_ps':"
    "31000000000,'wait_ps':31000000000,'p50_ps':60000000,'p95_ps':190000000,'max_ps':410000000,'clock':{'hosts':1,"
    "'aligned':null,'checked':0,'overlapping_pct':null},'straggler':'trainer-7/gpu:1','members':[{'device':"
    "'trainer-7/gpu:0','count':400,'last_count':40,'late_ps':2000000000,'late_max_ps':90000000,'wait_ps':"
    "29000000000,'caused_ps':2000000000,'collective_ps':45000000000},{'device':'trainer-7/gpu:1','count':400,"
    "'last_count':360,'late_ps':29000000000,'late_max_ps':410000000,'wait_ps':2000000000,'caused_ps':29000000000,"
    "'collective_ps':45000000000}],'worst':[]}},"
    "'host':{'overhead_pct':18.2,'overhead_ps':160000000000,'launches':{'count':48900,'per_step':1630,"
    "'unknown_count':12},'launch_delay':{'count':48900,'p50_ps':8400000,'p95_ps':41000000,'max_ps':97000000,"
    "'negative':0},'queue_empty':{'count':61,'total_ps':110000000000,'share_pct':12.5,'longest':[{'device':"
    "'trainer-7/gpu:1','begin_ps':211000000000,'dur_ps':9000000000}]},'windows':[{'host':'trainer-7','basis':"
    "'steps','begin_ps':120000000000,'end_ps':560000000000}],'sync':{'count':30,'total_ps':48000000000,'rows':[{"
    "'name':'$array.py:331 block_until_ready','caller':'$train.py:88 log_metrics','annotation':'logging','count':30,"
    "'total_ps':48000000000,'host':'trainer-7','longest_begin_ps':411000000000,'longest_ps':2400000000}],'rest':"
    "{'rows':0,'count':0,'total_ps':0}},'python':[{'name':'$train.py:61 next_batch','count':30,'self_ps':21000000000,"
    "'total_ps':33000000000},{'name':'$train.py:88 log_metrics','count':30,'self_ps':1200000000,'total_ps':"
    "49000000000}],'python_rest':{'rows':412,'count':81233,'self_ps':9000000000},'annotations':[{'name':'logging',"
    "'count':30,'self_ps':900000000,'total_ps':50000000000}],'annotations_rest':{'rows':0,'count':0,'self_ps':0},"
    "'threads':[{'host':'trainer-7','name':'python','events':91000,'busy_ps':430000000000,'share_pct':97.7,'first_ps':"
    "120000000000,'last_ps':560000000000,'ops':0,'op_ps':0,'is_main':true},{'host':'trainer-7','name':"
    "'tf_pjrt_thread_pool/77','events':1200,'busy_ps':21000000000,'share_pct':4.8,'first_ps':121000000000,'last_ps':"
    "559000000000,'ops':0,'op_ps':0,'is_main':false}],'threads_rest':{'rows':0,'events':0,'busy_ps':0}},"
    "'compile':{'count':3,'total_ps':1820000000000,'longest_ps':"
    "1500000000000,'inside_steps':{'count':1,'total_ps':48000000000},'source':'backend_compile','"
    "recompiled':"
    "[{'module':'jit_train_step','count':2}],'events':[{'module':'jit_train_step','host':'trainer-"
    "7','begin_ps':"
    "1000000000,'dur_ps':1500000000000,'step':0},{'module':'jit_train_step','host':'trainer-7','"
    "begin_ps':"
    "410000000000,'dur_ps':48000000000,'step':21}]},'roofline':null,"
    "'balance':{'devices':2,'imbalance_pct':6.4,'slowest':'trainer-7/"
    "gpu:1','busy':[{'device':'trainer-7/gpu:0','busy_ps':345000000000,'compute_ps':280000000000,"
    "'exposed_collective_ps':32000000000,'kernels':24000},{'device':'trainer-7/gpu:1','busy_ps':315000000000,"
    "'compute_ps':318000000000,'exposed_collective_ps':22000000000,'kernels':24000}]},"
    "'fallback':{'callbacks':{'count':30,'total_ps':12000000000,'rows':[{'name':'$train.py:40 host_fn','kind':"
    "'pure_callback','op':null,'count':30,'total_ps':12000000000,'host':'trainer-7','begin_ps':233000000000,'longest_"
    "ps':500000000}],"
    "'rest':{'rows':0,'count':0,'total_ps':0}},'cpu_ops':{'count':0,'total_ps':0,'rows':[],'rest':{'rows':0,"
    "'count':0,'total_ps':0}},'host_ops':{'count':0,'total_ps':0,'rows':[],'rest':{'rows':0,'count':0,'total_ps':0}},"
    "'round_trips':{'count':30,'host_ps':6000000000,'bytes':245760,'longest':[{'device':'trainer-7/gpu:0',"
    "'begin_ps':233100000000,'dur_ps':300000000,'bytes':8192,'host_event':'$train.py:40 host_fn'}]}},"
    "'kpis':[{'id':'device_utilization','title':'Device "
    "utilization','value':75.0,'unit':'%','band':'warning','finding':'idle_input',"
    "'good':80,'bad':50,'definition':'Busy time of all devices as a share of their "
    "windows.'},{'id':'kernel_duration',"
    "'title':'Kernel length, weighted by "
    "time','value':0.412,'unit':'ms','band':'warning','finding':null,'good':1,'bad':0.1,"
    "'definition':'Mean length of kernels, each weighted by its own time; the plain mean stands "
    "beside it.'},{'id':"
    "'small_kernel_share','title':'Time in small "
    "kernels','value':22.4,'unit':'%','band':'good','good':25,"
    "'bad':60,'definition':'Share of kernel time in kernels shorter than 0.1 "
    "ms.'},{'id':'host_overhead','title':"
    "'Host "
    "overhead','value':18.2,'unit':'%','band':'warning','good':10,'bad':20,'definition':'Idle time "
    "for "
    "causes of the host as a share of the periods of all "
    "steps.'},{'id':'memory_bandwidth','title':'Memory bandwidth',"
    "'value':null,'unit':'%','band':'unknown','why':'the profile holds no bytes "
    "accessed','good':60,'bad':40,"
    "'definition':'Bytes accessed per busy time as a share of the device "
    "peak.'},{'id':'compile_time','title':"
    "'Compile time','value':1.82,'unit':'s','band':'good','good':2,'bad':10,'definition':'Time in "
    "compiles "
    "over the whole session.'},{'id':'unexpected_compiles','title':'Compiles inside "
    "steps','value':1,'unit':"
    "'count','band':'bad','good':0,'bad':0,'definition':'Compiles that begin inside a chosen "
    "step.'},{'id':"
    "'peak_memory','title':'Peak "
    "memory','value':84.6,'unit':'%','band':'warning','good':80,'bad':90,"
    "'definition':'Highest use of an allocator as a share of its "
    "capacity.'},{'id':'step_time','title':'Step time',"
    "'value':14.31,'unit':'ms','band':'unknown','good':null,'bad':null,'definition':'Median period "
    "of the chosen "
    "steps.'}],'verdict':{'text':'The devices are busy for 75.0% of the window; the largest loss "
    "is input: 86.0 ms of "
    "idle time while the host prepared "
    "data.','severity':'warning'},'findings':[{'id':'idle_input','severity':'warning',"
    "'title':'Devices wait for input data','value':9.8,'unit':'%','limit':3,'evidence':['86.0 ms "
    "of idle time in 61 "
    "gaps while the host was inside next_batch','the longest gap took 3.10 ms before step "
    "12'],'at_stake_ps':86000000000,"
    "'share_pct':9.77,'cause':'The training loop fetches the next batch only after the step before "
    "has been launched, on "
    "the thread that launches.','fix':['prefetch batches to the device: jax.device_put of the next "
    "batch before the step "
    "runs','load data in threads or processes of their "
    "own'],'where':[{'begin_ps':288000000000,'end_ps':291100000000,"
    "'device':'trainer-7/"
    "gpu:0'},{'begin_ps':301000000000,'end_ps':303900000500,'device':'trainer-7/gpu:1'}]},{'id':"
    "'compile_in_step','severity':'critical','title':'A step compiles "
    "again','value':1,'unit':'count','limit':0,'evidence':"
    "['jit_train_step was compiled again in step 21: 48.0 "
    "ms'],'at_stake_ps':48000000000,'share_pct':5.45,'cause':'The "
    "shapes of the arguments changed.','fix':['pad or bucket the batches so that shapes "
    "repeat'],'where':[{'begin_ps':"
    "410000000000,'end_ps':458000000000,'device':'trainer-7/"
    "gpu:0'}]},{'id':'memory_near_limit','severity':'info',"
    "'title':'Memory comes close to its "
    "limit','value':84.6,'unit':'%','limit':80,'evidence':['peak 63.0 GiB of 74.5 GiB'],"
    "'at_stake_ps':0,'share_pct':0,'cause':null,'fix':['donate buffers of the train "
    "state'],'where':[]}],"
    "'thresholds':{}}";

static void add_step(struct tm_value *list, int number)
{
    struct tm_value *step = tm_add_object(list, NULL), *copy, *idle;
    const int64_t wobble = (number * 7919 % 13) * 90 * US;
    const bool compiles = number == 0 || number == 21;
    const int64_t compute = 9400 * US + wobble, collective = 900 * US, h2d = 360 * US, d2h = 65 * US;
    const int64_t input = number % 4 == 0 ? 2300 * US : 700 * US, launch = 800 * US + wobble / 3, wait = 1200 * US;
    const int64_t compile = compiles ? 48 * MS / (number ? 2 : 1) : 0, host = number % 9 == 5 ? 1500 * US : 150 * US;
    const int64_t idle_ps = input + launch + wait + compile + host;

    tm_add_int(step, "number", number);
    tm_add_string(step, "host", "trainer-7");
    tm_add_int(step, "begin_ps", 120 * MS + number * 14 * MS);
    tm_add_int(step, "host_span_ps", 11 * MS);
    tm_add_int(step, "device_span_ps", 14 * MS);
    tm_add_int(step, "period_ps", compute + collective + h2d + d2h + idle_ps);
    tm_add_int(step, "busy_ps", compute + collective + h2d + d2h);
    tm_add_int(step, "compute_ps", compute);
    tm_add_int(step, "exposed_collective_ps", collective);
    copy = tm_add_object(step, "exposed_copy_ps");
    tm_add_int(copy, "h2d", h2d);
    tm_add_int(copy, "d2h", d2h);
    idle = tm_add_object(step, "idle_ps");
    tm_add_int(idle, "device_wait", wait);
    tm_add_int(idle, "launch", launch);
    tm_add_int(idle, "compile", compile);
    tm_add_int(idle, "input", input);
    tm_add_int(idle, "host", host);
    tm_add_bool(step, "compile", compiles);
    tm_add_bool(step, "warmup", number == 0);
    tm_add_bool(step, "complete", true);
    tm_add_bool(step, "chosen", number > 0);
}

static void add_gpu_steps(struct tm_value *root, int count)
{
    struct tm_value *steps = tm_add_object(root, "steps"), *list;

    test_summary_load(steps,
                      "{'source':'host','module':null,'count':31,'chosen':30,'warmup':1,'incomplete':0,'skipped':"
                      "[{'number':0,'reason':'warm-up: it "
                      "compiles'}],'basis':'period','samples':29,'mean_ps':15310000000,"
                      "'median_ps':14310000000,'p90_ps':16900000000,'p95_ps':17800000000,'stddev_ps':4200000000,"
                      "'min_ps':13575000000,'max_ps':37900000000,'samples_ps':[]}");
    tm_add_int(steps, "count", count);
    tm_add_int(steps, "chosen", count - 1);
    list = tm_add_array(steps, "list");
    for (int i = 0; i < count; i++)
        add_step(list, i);
}

/* 44 stretches of 10 ms, of which some are idle. */
static void add_utilization(struct tm_value *device, int number)
{
    struct tm_value *utilization = tm_add_object(device, "utilization"), *busy;

    tm_add_int(utilization, "begin_ps", 120 * MS);
    tm_add_int(utilization, "end_ps", 560 * MS);
    tm_add_int(utilization, "bin_ps", 10 * MS);
    busy = tm_add_array(utilization, "busy_ps");
    for (int i = 0; i < 44; i++)
        tm_add_int(busy, NULL, i % 7 == 3 ? number * MS : (9 - i % 4 * (number + 1)) * MS);
}

static void add_gpu_device(struct tm_value *devices, int number)
{
    struct tm_value *device = tm_add_object(devices, NULL), *causes;
    static const char *const cause[] = { "device_wait", "launch",   "compile", "input",     "sync",
                                         "gc",          "profiler", "host",    "unrecorded" };
    static const int64_t idle_ms[2][9] = { { 30, 18, 0, 40, 0, 0, 0, 4, 3 }, { 34, 24, 4, 46, 4, 1, 2, 6, 4 } };
    const int64_t idle = number ? 125 * MS : 95 * MS, compute = number ? 280 * MS : 300 * MS;
    char id[32];

    (void)snprintf(id, sizeof(id), "trainer-7/gpu:%d", number);
    tm_add_string(device, "id", id);
    tm_add_string(device, "host", "trainer-7");
    tm_add_string(device, "kind", "gpu");
    tm_add_string(device, "model", "NVIDIA H100 80GB HBM3");
    tm_add_int(device, "span_ps", 440 * MS);
    tm_add_int(device, "busy_ps", 440 * MS - idle);
    tm_add_int(device, "idle_ps", idle);
    tm_add_int(device, "compute_ps", compute);
    tm_add_int(device, "collective_ps", 45 * MS);
    tm_add_int(device, "exposed_collective_ps", number ? 22 * MS : 32 * MS);
    tm_add_int(device, "exposed_copy_ps", 13 * MS);
    test_summary_load(tm_add_object(device, "exposed_by_direction_ps"),
                      "{'h2d':11000000000,'d2h':2000000000,'p2p':0,'d2d':0,'other':0}");
    tm_add_null(device, "wait_ps", "only a TPU records waits");
    tm_add_null(device, "hidden_ps", "only a TPU records it");
    tm_add_double(device, "utilization_pct", 100.0 * (double)(440 * MS - idle) / (double)(440 * MS));
    add_utilization(device, number);
    tm_add_int(device, "activities", 24571);
    tm_add_string(device, "reliability", "full");
    causes = tm_add_object(device, "gaps");
    tm_add_int(causes, "count", 1204);
    causes = tm_add_object(causes, "by_cause");
    for (int i = 0; i < 9; i++) {
        struct tm_value *row = tm_add_object(causes, cause[i]);

        tm_add_int(row, "count", idle_ms[number][i] * 5);
        tm_add_int(row, "total_ps", idle_ms[number][i] * MS);
    }
}

static void add_gaps(struct tm_value *root)
{
    struct tm_value *gaps = tm_add_object(root, "gaps"), *list;

    test_summary_load(
        gaps, "{'count':2408,'count_min':611,'total_ps':220000000000,'gap_min_ps':10000000,'pauses':{'below_ps':"
              "10000000,'count':1797,'total_ps':5400000000},'by_cause':{"
              "'device_wait':{'count':1100,'total_ps':64000000000,'share_pct':29.1},'launch':{'count':"
              "800,'total_ps':"
              "42000000000,'share_pct':19.1},'compile':{'count':1,'total_ps':4000000000,'share_pct':1.8},"
              "'input':{'count':61,"
              "'total_ps':86000000000,'share_pct':39.1},'sync':{'count':31,'total_ps':4000000000,'share_"
              "pct':1.8},'gc':"
              "{'count':2,'total_ps':1000000000,'share_pct':0.5},'profiler':{'count':4,'total_ps':"
              "2000000000,'share_pct':0.9},"
              "'host':{'count':309,'total_ps':10000000000,'share_pct':4.5},'unrecorded':{'count':100,'"
              "total_ps':"
              "7000000000,'share_pct':3.2}},'longest':[{'device':'trainer-7/"
              "gpu:0','begin_ps':288000000000,'dur_ps':"
              "3100000000,'before':'loop_add_fusion_12','after':'MemcpyH2D','step':12,'cause':'input','"
              "host_event':"
              "'$loader.py:118 "
              "next_batch','parts':{'input':3000000000,'launch':100000000}},{'device':'trainer-7/gpu:1',"
              "'begin_ps':301000000000,'dur_ps':2900000000,'before':'void "
              "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_"
              "relu_bf16_256x128_64x3_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_"
              "64x3_tn_align8::Params)',"
              "'after':'input_transpose_fusion','step':13,'cause':'launch','host_event':'PjitFunction("
              "train_step)','parts':{}}]}");
    list = tm_add_array(gaps, "histogram");
    for (int i = 0; i < 11; i++) {
        struct tm_value *row = tm_add_object(list, NULL);
        const int64_t from = INT64_C(1) << (21 + i);
        const int64_t count = i < 4 ? 400 - 60 * i : 160 - 14 * i;

        tm_add_int(row, "from_ps", from);
        tm_add_int(row, "to_ps", 2 * from);
        tm_add_int(row, "count", count);
        tm_add_int(row, "total_ps", count * from * 14 / 10);
    }
}

static void add_fusion(struct tm_value *root, const char *name)
{
    struct tm_value *row;

    test_summary_load(
        tm_add_object(root, "fusion"),
        "{'kernels':{'count':40000,'total_ps':600000000000},'per_step':1333.3,'small':{'below_ps':100000000,'count':"
        "30000,'total_ps':134400000000,'share_pct':22.4,'collectives':{'count':3,'total_ps':90000000}},'tiny':{"
        "'below_ps':10000000,'count':9000,'total_ps':40000000000,'share_pct':6.7},'runs':{'gap_below_ps':10000000,"
        "'launch_ps':5000000,'count':410,'kernels':21000,'kernel_ps':90000000000,'gap_ps':2000000000,'at_stake_ps':"
        "9000000000,'longest':[{'device':'vm/gpu:0','track':'Stream #13','begin_ps':51000000000,'dur_ps':900000000,"
        "'kernels':61,'kernel_ps':800000000,'gap_ps':100000000,'at_stake_ps':400000000,'step':7,'names':["
        "'loop_add_fusion']}]},'eager_chains':{'count':320,'kernels':960,'total_ps':7000000000,'saved_ps':4000000000,"
        "'share_pct':1.2},'repeated_total':{'count':900,'total_ps':8000000000},'attention_unfused':{'count':48,"
        "'total_ps':5000000000,'rows':[{'op':'jit(train_step)/layer_0/softmax','count':48,'total_ps':5000000000}],"
        "'rest':{'rows':0,'count':0,'total_ps':0}},'layout_copies':{'count':96,'total_ps':6000000000,'share_pct':1,"
        "'rows':[{'name':'input_transpose_fusion','count':96,'total_ps':6000000000}],'rest':{'rows':0,'count':0,"
        "'total_ps':0}},'matrix':{'count':9100,'total_ps':380000000000,'share_pct':63.3,'f32':{'count':0,'total_ps':0,"
        "'rows':[],'rest':{'rows':0,'count':0,'total_ps':0}}}}");
    row = tm_add_object(tm_add_array(tm_member(root, "fusion"), "repeated"), NULL);
    test_summary_load(row, "{'op':'jit(train_step)/mask','per_step':30,'steps':30,'count':900,'total_ps':8000000000,"
                           "'mean_ps':8888889}");
    tm_add_string(row, "name", name ? name : "loop_compare_fusion");
}

static void add_occupancy(struct tm_value *root, const char *name)
{
    struct tm_value *row;

    test_summary_load(
        tm_add_object(root, "occupancy"),
        "{'mean_pct':44.1,'known_ps':590000000000,'unknown_ps':10000000000,'with_collectives':{"
        "'mean_pct':44,'known_ps':600000000000},'histogram':[{'from_pct':40,'to_pct':50,'count':30000,'total_ps':"
        "590000000000}],'limiters':{'registers':400000000000,'shared_memory':90000000000,'block_size':0,"
        "'grid':50000000000,'none':40000000000,'unknown':10000000000},'tail':{'known_ps':580000000000,"
        "'lost_ps':3000000000,'below_one_wave_ps':1000000000,'idle_multiprocessors_ps':500000000,'rows':"
        "[]}}");
    row = tm_add_object(tm_add_array(tm_member(root, "occupancy"), "low"), NULL);
    test_summary_load(row, "{'op':'jit(train_step)/dot_general','category':'gemm/dot','variants':12,"
                           "'occupancy_pct':12.5,"
                           "'limiter':'registers','grid':'132,1,1','block':'384,1,1','registers':168,'shared_bytes':"
                           "65536,'waves':1,'tail_pct':0,'lost_ps':0,'count':9100,'total_ps':380000000000,'share_pct':"
                           "63.3}");
    tm_add_string(row, "name", name ? name : "sm90_xmma_gemm_bf16");
    test_summary_load(tm_add_object(root, "programs"),
                      "{'count':60,'per_step':1,'operations':40000,'operation_ps':600000000000,'pauses':{'below_ps':"
                      "100000000,'count':1,'total_ps':20000000,'longest':[{'device':'vm/gpu:0','begin_ps':51000000000,"
                      "'dur_ps':20000000,'step':7,'before':'jit_loss','after':'jit_train_step'}]}}");
}

static void add_kernels(struct tm_value *root, int rows, const char *name)
{
    struct tm_value *kernels = tm_add_object(root, "kernels"), *list;
    static const char *const names[] = { "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_nn",
                                         "loop_add_fusion", "input_reduce_fusion",
                                         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                                         "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
                                         "cutlass::bfloat16_t>, true, false>(Flash_fwd_params)" };
    static const char *const classes[] = { "kernel", "kernel", "kernel", "collective", "kernel" };
    static const char *const categories[] = { "gemm/dot", "elementwise fusion", "reduction", "collective",
                                              "attention" };

    test_summary_load(kernels, "{'count':48211,'total_ps':648000000000,'distinct':612,'rest':{'"
                               "rows':112,'count':900,'total_ps':"
                               "1200000000},'weighted_mean_ps':412000000,'compute_mean_ps':13441000,'by_"
                               "category':[{'category':'gemm/dot','count':"
                               "9100,'total_ps':380000000000,'share_pct':58.6},{'category':'"
                               "attention','count':3100,'total_ps':120000000000,"
                               "'share_pct':18.5},{'category':'elementwise "
                               "fusion','count':36011,'total_ps':148000000000,'share_pct':22.8}]}");
    list = tm_add_array(kernels, "rows");
    for (int i = 0; i < rows; i++) {
        struct tm_value *row = tm_add_object(list, NULL);
        const int64_t row_total = 120 * MS / (i + 1), count = 31 + i % 7 * 310;
        char text[512];

        (void)snprintf(text, sizeof(text), i < 5 ? "%s" : "%s_%d", name ? name : names[i % 5], i);
        tm_add_string(row, "name", text);
        tm_add_string(row, "class", classes[i % 5]);
        (void)snprintf(text, sizeof(text), "jit(train_step)/transformer/layer_%d/%s", i % 12,
                       i % 2 ? "mlp/dot_general" : "attention/add");
        tm_add_string(row, "op", text);
        (void)snprintf(text, sizeof(text), "fusion.%d", i);
        tm_add_string(row, "hlo_op", text);
        tm_add_string(row, "category", categories[i % 5]);
        tm_add_int(row, "count", count);
        tm_add_int(row, "total_ps", row_total);
        tm_add_int(row, "min_ps", row_total / count * 9 / 10);
        tm_add_int(row, "max_ps", row_total / count * 13 / 10);
        tm_add_int(row, "mean_ps", row_total / count);
        tm_add_int(row, "p50_ps", row_total / count);
        tm_add_int(row, "p95_ps", row_total / count * 12 / 10);
        tm_add_double(row, "share_pct", 100.0 * (double)row_total / 648e9);
        if (i % 3)
            tm_add_double(row, "occupancy_pct", 25.0 * (i % 4 + 1));
        else
            tm_add_null(row, "occupancy_pct", "the profile holds no occupancy for this kernel");
        tm_add_string(row, "grid", "132,1,1");
        tm_add_string(row, "block", "256,1,1");
        tm_add_int(row, "registers", 32 + i % 5 * 32);
        tm_add_int(row, "shared_bytes", i % 4 * 16384);
        tm_add_int(row, "device_count", 2);
        tm_add_null(row, "precision", "the HLO is not in the file");
    }
}

static void add_memory(struct tm_value *root, const char *name, const char *model)
{
    struct tm_value *list = tm_add_array(tm_add_object(root, "memory"), "allocators");
    struct tm_value *allocator = tm_add_object(list, NULL), *timeline;

    tm_add_string(allocator, "name", name);
    tm_add_string(allocator, "host", model);
    test_summary_load(allocator, "{'capacity_bytes':80000000000,'peak_bytes':67645734912,'peak_at_"
                                 "ps':410200000000,'lifetime_peak_bytes':"
                                 "67645734912,'fragmentation_pct':4.1,'allocations':21811,'"
                                 "deallocations':21790,'allocated_bytes':"
                                 "991231231231,'small_allocations':8121,'peak_pct':84.6,'holders':["
                                 "{'op':'fusion.118','shape':"
                                 "'bf16[16,2048,8192]','bytes':536870912,'address':140204},{'op':'"
                                 "param_4','shape':'f32[8192,8192]',"
                                 "'bytes':268435456,'address':99}],'kept':{'count':21,'quarters_bytes':[1073741824,"
                                 "536870912,536870912,0],'largest_bytes':536870912,'op':'fusion.118','shape':"
                                 "'bf16[16,2048,8192]'},'spikes':[]}");
    timeline = tm_add_array(allocator, "timeline");
    for (int i = 0; i < 300; i++) {
        struct tm_value *point = tm_add_array(timeline, NULL);
        const int64_t base = INT64_C(30) << 30,
                      wave = (i % 20 < 12 ? i % 20 : 24 - i % 20 * 5 / 4) * (INT64_C(5) << 29);
        const int64_t bytes = i == 200 ? INT64_C(67645734912) : base + wave / 2 + (i > 150 ? INT64_C(8) << 30 : 0);

        tm_add_int(point, NULL, 100 * MS + i * 1551 * US);
        tm_add_int(point, NULL, bytes);
        tm_add_int(point, NULL, INT64_C(80000000000) - bytes);
    }
}

static void fill_gpu(struct tm_value *root)
{
    struct tm_value *devices;

    test_summary_load(root, gpu_head);
    add_gpu_steps(root, 31);
    devices = tm_add_array(root, "devices");
    add_gpu_device(devices, 0);
    add_gpu_device(devices, 1);
    add_gaps(root);
    add_kernels(root, 500, NULL);
    add_memory(root, "GPU_0_bfc", "trainer-7");
    test_summary_load(root, gpu_tail);
    add_fusion(root, NULL);
    add_occupancy(root, NULL);
}

/* --- names that attack --- */

static const char *const attack =
    "\"><img src=x "
    "onerror=alert(1)><script>document.title='owned'</script>'`${7*7}]]>--></style></title>"
    "</textarea>\x1b[31m\xe2\x80\xae"
    "gnp.exe\xe2\x80\x8b &lt;b&gt; javascript:alert(2)";

/* Trees that are none, of names that attack the page. */
static void add_scopes(struct tm_value *root, const char *long_name)
{
    static const int64_t depths[] = { 5, -7, INT64_MAX, 0, INT64_MIN, 63 };
    struct tm_value *scopes = tm_add_object(root, "scopes"), *rows = tm_add_array(scopes, "rows"), *row;
    struct tm_value *annotations = tm_add_array(scopes, "annotations");

    tm_add_int(scopes, "self_ps", 3);
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        row = tm_add_object(rows, NULL);
        tm_add_string(row, "path", i % 2 ? attack : long_name);
        tm_add_string(row, "name", i % 2 ? long_name : attack);
        tm_add_string(row, "pass", attack);
        tm_add_int(row, "depth", depths[i]);
        tm_add_int(row, "total_ps", i % 2 ? INT64_MAX : INT64_MIN);
        row = tm_add_object(annotations, NULL);
        tm_add_string(row, "name", attack);
        tm_add_int(row, "depth", depths[i]);
    }
}

static void fill_hostile(struct tm_value *root)
{
    static char long_name[5001];
    struct tm_value *input, *files, *file, *devices, *device, *gaps, *longest, *gap, *findings, *finding, *texts;

    memset(long_name, 'A', sizeof(long_name) - 1);
    memcpy(long_name + 3000, "<script>", 8);
    test_summary_load(root, gpu_head);
    input = tm_add_object(root, "input");
    tm_add_string(input, "run", attack);
    tm_add_string(tm_add_array(input, "hosts"), NULL, attack);
    tm_add_bool(input, "partial", true);
    files = tm_add_array(input, "files");
    file = tm_add_object(files, NULL);
    tm_add_string(file, "path", attack);
    tm_add_string(file, "kind", "xspace");
    tm_add_string(file, "host", attack);
    tm_add_int(file, "bytes", 1234);
    tm_add_bool(file, "partial", true);
    tm_add_string(tm_add_array(file, "problems"), NULL, "the data ends inside a message (byte 913408122)");
    add_gpu_steps(root, 700);
    devices = tm_add_array(root, "devices");
    for (int i = 0; i < 40; i++) {
        add_gpu_device(devices, i % 2);
        device = tm_add_object(devices, NULL);
        tm_add_string(device, "id", i % 2 ? attack : long_name);
        tm_add_int(device, "compute_ps", INT64_MAX);
        tm_add_int(device, "idle_ps", INT64_MAX);
    }
    gaps = tm_add_object(root, "gaps");
    tm_add_int(gaps, "count", -5);
    test_summary_load(tm_add_object(gaps, "by_cause"),
                      "{'<svg onload=alert(3)>':{'count':1,'total_ps':5,'share_pct':1e300}}");
    longest = tm_add_array(gaps, "longest");
    gap = tm_add_object(longest, NULL);
    tm_add_string(gap, "device", long_name);
    tm_add_string(gap, "host_event", attack);
    tm_add_int(gap, "dur_ps", INT64_MIN);
    add_kernels(root, 400, attack);
    add_fusion(root, attack);
    add_occupancy(root, attack);
    add_memory(root, attack, long_name);
    test_summary_load(root, gpu_tail);
    add_scopes(root, long_name);
    tm_add_string(tm_add_object(root, "verdict"), "text", attack);
    findings = tm_add_array(root, "findings");
    finding = tm_add_object(findings, NULL);
    tm_add_string(finding, "severity", attack);
    tm_add_string(finding, "title", attack);
    texts = tm_add_array(finding, "evidence");
    tm_add_string(texts, NULL, attack);
    tm_add_string(texts, NULL, long_name);
}

/* --- the others --- */

static void fill_tpu(struct tm_value *root)
{
    struct tm_value *steps, *list;

    test_summary_load(root, gpu_head);
    test_summary_load(tm_add_object(root, "environment"),
                      "{'platform':'tpu','hosts':[{'host':'t1v-n-0','jax':'0.8.1','libtpu':'0.0.24'}],"
                      "'devices':[{'model':'TPU v5e','kind':'tpu','count':1,'used':1}]}");
    test_summary_load(root, "{'input':{'run':'tpu_run','hosts':['t1v-n-0'],'partial':false,'files':"
                            "[]},'window':{'mode':'steps',"
                            "'hosts':[{'host':'t1v-n-0','begin_ps':0,'end_ps':32000000000,'span_ps'"
                            ":32000000000}],'total_ps':32000000000}}");
    steps = tm_add_object(root, "steps");
    test_summary_load(steps, "{'source':'tpu','module':'jit_step','count':4,'chosen':4,'warmup':0,'"
                             "incomplete':0,'skipped':[],'basis':"
                             "'period','samples':4,'mean_ps':8000000000,'median_ps':8000000000,'"
                             "p90_ps':8200000000,'p95_ps':8300000000,"
                             "'stddev_ps':100000000,'min_ps':7800000000,'max_ps':8300000000}");
    list = tm_add_array(steps, "list");
    for (int i = 0; i < 4; i++) {
        struct tm_value *step = tm_add_object(list, NULL);

        test_summary_load(step, "{'host_span_ps':null,'period_ps':8000000000,'compute_ps':6000000000,'exposed_"
                                "collective_ps':500000000,"
                                "'exposed_copy_ps':{'h2d':0,'d2d':300000000},'idle_ps':{'device_wait':700000000,'"
                                "input':500000000},"
                                "'complete':true,'chosen':true,'why':{'host_span_ps':'steps of a device'}}");
        tm_add_int(step, "number", i);
    }
    test_summary_load(root, "{'devices':[{'id':'t1v-n-0/tpu:0','host':'t1v-n-0','kind':'tpu','model':'TPU "
                            "v5e','span_ps':32000000000,"
                            "'busy_ps':27200000000,'idle_ps':4800000000,'compute_ps':24000000000,'exposed_"
                            "collective_ps':2000000000,"
                            "'exposed_copy_ps':1200000000,'exposed_by_direction_ps':{'d2d':1200000000},'wait_ps':"
                            "2600000000,'hidden_ps':"
                            "900000000,'utilization_pct':76.9,'activities':4000,'reliability':'full','gaps':{'"
                            "count':12,'by_cause':{'device_wait':"
                            "{'count':8,'total_ps':2800000000},'input':{'count':4,'total_ps':2000000000}}}}],'"
                            "unused':[{'host':'t1v-n-0','name':"
                            "'/device:TPU:1'}],'kernels':null,'why':{'kernels':'a TPU has no "
                            "kernels'},'gaps':null,'compile':{'count':0,'total_ps':0},"
                            "'memory':null,'kpis':[{'id':'device_utilization','title':'Device "
                            "utilization','value':76.9,'unit':'%','band':'warning',"
                            "'good':80,'bad':50,'definition':'Busy time without waits as a share of the "
                            "window.'}],'verdict':{'text':'The device is busy "
                            "for 76.9% of the window.','severity':'warning'},'findings':[]}");
}

static void fill_cpu(struct tm_value *root)
{
    struct tm_value *steps, *list;

    test_summary_load(root, gpu_head);
    test_summary_load(root, "{'input':{'run':'cpu_run','hosts':['laptop'],'partial':false,'files':["
                            "]},'environment':{'platform':'cpu','hosts':"
                            "[{'host':'laptop','jax':'0.8.1','jaxlib':'0.8.1'}],'devices':[]},'"
                            "window':{'mode':'all','hosts':[{'host':"
                            "'laptop','begin_ps':null,'end_ps':null,'span_ps':null,'why':{'span_ps'"
                            ":'no device activity'}}],'total_ps':null}}");
    steps = tm_add_object(root, "steps");
    test_summary_load(steps, "{'source':'host','count':5,'chosen':5,'warmup':0,'basis':'host_span','"
                             "samples':5,'mean_ps':3100000,"
                             "'median_ps':3000000,'p95_ps':3500000,'min_ps':2900000,'max_ps':3500000}");
    list = tm_add_array(steps, "list");
    for (int i = 0; i < 5; i++) {
        struct tm_value *step = tm_add_object(list, NULL);

        tm_add_int(step, "number", i);
        tm_add_int(step, "host_span_ps", 2900000 + i * 150000);
        tm_add_null(step, "period_ps", "no device activity");
        tm_add_null(step, "compute_ps", "no device activity");
        tm_add_null(step, "idle_ps", "no device activity");
        tm_add_bool(step, "chosen", true);
    }
    test_summary_load(root, "{'devices':[],'unused':[],'gaps':null,'kernels':null,'transfers':null,"
                            "'host':{'overhead_pct':null,'overhead_ps':"
                            "null,'launches':null,'launch_delay':null,'queue_empty':null,'sync':null,"
                            "'why':{'overhead_pct':'no device','overhead_ps':'no device','launches':'no device',"
                            "'launch_delay':'no device','queue_empty':'no device','sync':'no "
                            "device'}},'compile':{'count':1,'total_ps':120000000000,'longest_ps':"
                            "120000000000,'inside_steps':{'count':0,'total_ps':0},'source':'client'"
                            ",'recompiled':[],'events':[{'module':'jit_f',"
                            "'host':'laptop','begin_ps':5000000,'dur_ps':120000000000,'step':null}]"
                            "},'memory':null,'kpis':[{'id':"
                            "'device_utilization','title':'Device "
                            "utilization','value':null,'unit':'%','band':'unknown','why':"
                            "'no device activity','good':80,'bad':50,'definition':'Busy time as a "
                            "share of the window.'},{'id':'compile_time',"
                            "'title':'Compile "
                            "time','value':0.12,'unit':'s','band':'good','good':2,'bad':10,'"
                            "definition':'Time in compiles.'}],"
                            "'verdict':{'text':'No device was profiled; the median step takes 3.00 "
                            "us on the host.','severity':'info'},'findings':[],"
                            "'why':{'gaps':'no device activity','kernels':'no device "
                            "activity','transfers':'no device activity','memory':"
                            "'no allocator recorded anything'}}");
}

static void fill_empty(struct tm_value *root)
{
    test_summary_load(root, "{'schema':'tracemill.summary','schema_version':2,'tool':{'name':'"
                            "tracemill','version':'0.1.0'},'input':{'run':"
                            "'empty','hosts':[],'partial':false,'files':[]},'environment':{'"
                            "platform':'none','hosts':[],'devices':[]},"
                            "'coverage':{'events_read':0,'events_used':0,'classes':{},'tallies':{},"
                            "'warnings':[]},'steps':null,'devices':[],"
                            "'kernels':null,'why':{'steps':'the profile holds no "
                            "events','kernels':'no device activity'},'verdict':{'text':"
                            "'Nothing was recorded on a device.','severity':'critical'},'findings':[]}");
}

struct tm_doc *tm_sample_summary(struct tm_run *run, enum tm_sample_profile which)
{
    static void (*const fill[TM_SAMPLES])(struct tm_value * root) = {
        [TM_SAMPLE_GPU] = fill_gpu,     [TM_SAMPLE_TPU] = fill_tpu,         [TM_SAMPLE_CPU] = fill_cpu,
        [TM_SAMPLE_EMPTY] = fill_empty, [TM_SAMPLE_HOSTILE] = fill_hostile,
    };
    struct tm_doc *doc = tm_doc_new(run);

    if (doc) {
        fill[which](tm_doc_root(doc));
        if (tm_doc_status(doc) != TM_OK) {
            tm_doc_free(doc);
            doc = NULL;
        }
    }
    return doc;
}
