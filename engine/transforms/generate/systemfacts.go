package generate

import (
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// systemFacts lists what SystemInfo knows, with Hop's codes.
func systemFacts() []systemFact {
	list := []systemFact{
		{"system date (variable)", batch.Date, true, func(e *transform.Env) batch.Value { return batch.DateValue(e.Now().UnixMilli()) }},
		{"system date (fixed)", batch.Date, false, started},
		{"start date range", batch.Date, false, started},
		{"end date range", batch.Date, false, noDate},
		{"workflow start date range", batch.Date, false, noDate},
		{"workflow end date range", batch.Date, false, noDate},
	}
	list = append(list, calendarFacts()...)
	list = append(list, pipelineFacts()...)
	list = append(list, machineFacts()...)
	return append(list, resultFacts()...)
}

func started(e *transform.Env) batch.Value { return batch.DateValue(e.Started.UnixMilli()) }

func noDate(*transform.Env) batch.Value { return batch.Null(batch.Date) }

func textFact(code string, text func(e *transform.Env) string) systemFact {
	return systemFact{code, batch.String, false, func(e *transform.Env) batch.Value {
		s := text(e)
		return batch.Value{Type: batch.String, Valid: s != "", Text: s}
	}}
}

func numberFact(code string, number func(e *transform.Env) int64) systemFact {
	return systemFact{code, batch.Integer, false, func(e *transform.Env) batch.Value { return batch.IntegerValue(number(e)) }}
}

func flagFact(code string, flag func(e *transform.Env) bool) systemFact {
	return systemFact{code, batch.Boolean, false, func(e *transform.Env) batch.Value { return batch.BooleanValue(flag(e)) }}
}

func pipelineFacts() []systemFact {
	return []systemFact{
		numberFact("copy of transform", func(e *transform.Env) int64 { return int64(e.Copy) }),
		textFact(" pipeline name", func(e *transform.Env) string { return e.Pipeline.Name }),
		textFact(" pipeline file name", func(e *transform.Env) string { return e.Pipeline.File }),
		textFact("User created", func(*transform.Env) string { return "" }),
		{"Date created", batch.Date, false, noDate},
		textFact("User modified", func(e *transform.Env) string { return e.Pipeline.ModifiedUser }),
		{"Date modified", batch.Date, false, modifiedDate},
	}
}

// fileDate is how pipelines write their dates.
const fileDate = "2006/01/02 15:04:05.000"

func modifiedDate(e *transform.Env) batch.Value {
	t, err := time.ParseInLocation(fileDate, e.Pipeline.ModifiedDate, location(e))
	if err != nil {
		return batch.Null(batch.Date)
	}
	return batch.DateValue(t.UnixMilli())
}

func machineFacts() []systemFact {
	host := func(*transform.Env) string {
		name, err := os.Hostname()
		if err != nil {
			return ""
		}
		return name
	}
	list := []systemFact{
		textFact("Hostname", host),
		textFact("Hostname real", host),
		textFact("IP address", func(*transform.Env) string { return ownAddress() }),
		numberFact("Current PID", func(*transform.Env) int64 { return int64(os.Getpid()) }),
		numberFact("jvm max memory", func(*transform.Env) int64 { return debug.SetMemoryLimit(-1) }),
		numberFact("jvm total memory", func(*transform.Env) int64 { return int64(memory().Sys) }),
		numberFact("jvm free memory", func(*transform.Env) int64 { m := memory(); return int64(m.Sys - m.Alloc) }),
		numberFact("jvm available memory", func(*transform.Env) int64 { return debug.SetMemoryLimit(-1) - int64(memory().Alloc) }),
		numberFact("available processors", func(*transform.Env) int64 { return int64(runtime.GOMAXPROCS(0)) }),
		numberFact("jvm cpu time", func(*transform.Env) int64 { return cpuTime().Milliseconds() }),
	}
	for _, m := range []struct{ code, key string }{
		{"total physical memory size", "MemTotal"},
		{"total swap space size", "SwapTotal"},
		{"committed virtual memory size", "Committed_AS"},
		{"free physical memory size", "MemFree"},
		{"free swap space size", "SwapFree"},
	} {
		list = append(list, systemFact{m.code, batch.Integer, false, func(*transform.Env) batch.Value {
			n, ok := machineMemory(m.key)
			return batch.Value{Type: batch.Integer, Valid: ok, Int: n}
		}})
	}
	return list
}

func memory() runtime.MemStats {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}

// cpuTime is what this process used, by the estimate of the Go runtime.
func cpuTime() time.Duration {
	samples := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindFloat64 {
			return 0
		}
	}
	return time.Duration((samples[0].Value.Float64() - samples[1].Value.Float64()) * float64(time.Second))
}

// ownAddress is the first address of this machine that is not its loopback.
func ownAddress() string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

func resultFacts() []systemFact {
	counter := func(name string, get func(r transform.Result) int64) systemFact {
		return numberFact("previous result "+name, func(e *transform.Env) int64 { return get(e.Results.Previous()) })
	}
	return []systemFact{
		flagFact("previous result result", func(e *transform.Env) bool { return e.Results.Previous().OK }),
		counter("exist status", func(r transform.Result) int64 { return int64(r.ExitStatus) }),
		counter("entry nr", func(r transform.Result) int64 { return int64(r.EntryNumber) }),
		counter("nr errors", func(r transform.Result) int64 { return r.Errors }),
		counter("nr lines input", func(r transform.Result) int64 { return r.Input }),
		counter("nr lines output", func(r transform.Result) int64 { return r.Output }),
		counter("nr lines read", func(r transform.Result) int64 { return r.Read }),
		counter("nr lines updated", func(r transform.Result) int64 { return r.Updated }),
		counter("nr lines written", func(r transform.Result) int64 { return r.Written }),
		counter("nr lines deleted", func(r transform.Result) int64 { return r.Deleted }),
		counter("nr lines rejected", func(r transform.Result) int64 { return r.Rejected }),
		counter("nr rows", func(r transform.Result) int64 { return rowCount(r.Rows) }),
		flagFact("previous result is stopped", func(e *transform.Env) bool { return e.Results.Previous().Stopped }),
		counter("nr files", func(r transform.Result) int64 { return int64(len(r.ResultFiles)) }),
		counter("nr files retrieved", func(r transform.Result) int64 { return r.Files }),
		textFact("previous result log text", func(e *transform.Env) string { return e.Results.Previous().LogText }),
	}
}

func rowCount(list []*batch.Batch) int64 {
	n := 0
	for _, b := range list {
		n += b.Rows()
	}
	return int64(n)
}
