package connectortest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// The test binary plays a connector with many things when it is started with this argument.
const playMany = "play-many"

const manyManifest = `{"protocol_version":"0.1.0","connector_id":"https://registry.example/many",` +
	`"connector_key":"many","version":"1.0.0","display_name":"Many",
	"runtime_requirements":{"bindings":{"network":{"required":true}},` +
	`"environment_variables":[{"name":"PDPP_MANY_SEND"},{"name":"PDPP_MANY_WALK"}]},
	"streams":[{"name":"many","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",
		"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}]}`

// openMany sends so many records, or claims without a record that so many are there.
func openMany(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	send, _ := strconv.Atoi(s.Env("PDPP_MANY_SEND")) // none means zero
	walk, _ := strconv.Atoi(s.Env("PDPP_MANY_WALK"))
	return []connectorkit.Collector{connectorkit.PushSource{Streams: []string{"many"},
		Collect: func(ctx context.Context, f *connectorkit.Push) error {
			for i := range send {
				if err := f.Record(ctx, "many", connectorkit.Upsert(map[string]string{"id": manyKey(i)})); err != nil {
					return err
				}
				if i%1000 == 999 {
					if err := f.State(ctx, "many", map[string]int{"at": i}); err != nil {
						return err
					}
				}
			}
			if walk > 0 {
				err := f.Compare(ctx, "many",
					connectorkit.Whole{Gone: connectorkit.AllKeysGone, Keys: func(yield func(string) bool) {
						for i := range walk {
							if !yield(manyKey(i)) {
								return
							}
						}
					}})
				if err != nil {
					return err
				}
			}
			return f.State(ctx, "many", map[string]int{"at": send + walk})
		}}}, nil
}

func manyKey(i int) string { return fmt.Sprintf("thing-%09d-of-many", i) }

// BenchmarkComparison measures what it costs to compare 500,000 stored keys with those of a walk, of which 1,000 are
// gone: the time beyond a run that compares nothing, the processor time of the run and its connector (without that of a
// database server), and the memory of the process that has runner and store.
//
//	go test ./connectorkit/connectortest -run '^$' -bench Comparison -benchtime 3x
func BenchmarkComparison(b *testing.B) {
	const stored, gone = 500_000, 1000
	m, err := manifest.Parse([]byte(manyManifest))
	if err != nil {
		b.Fatal(err)
	}
	path, err := filepath.Abs(os.Args[0])
	if err != nil {
		b.Fatal(err)
	}
	for name, open := range Databases {
		b.Run(name, func(b *testing.B) {
			st, err := open(b)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = st.Close() })
			bed := &Harness{
				Target: Target{Connector: catalog.Connector{Name: "many", Manifest: m, Path: path, Args: []string{playMany}}},
				Sim:    &Sim{}, Store: st, Env: map[string]string{},
			}
			if err := bed.Connect(b.Context()); err != nil {
				b.Fatal(err)
			}
			run := func(send, walk int) time.Duration {
				bed.Env["PDPP_MANY_SEND"], bed.Env["PDPP_MANY_WALK"] = strconv.Itoa(send), strconv.Itoa(walk)
				began := time.Now()
				result, err := bed.Launcher().Run(b.Context(),
					launch.RunRequest{ConnectionID: Connection, Trigger: store.TriggerManual, Mode: protocol.FullRefresh})
				if err != nil || result.Status != runner.Succeeded {
					b.Fatalf("%v, %s: %v", err, result.Status, result.Failure)
				}
				return time.Since(began)
			}
			run(stored, 0)
			var took, busy time.Duration
			var peak uint64
			rounds := 0
			for ; b.Loop(); rounds++ {
				b.StopTimer()
				run(stored, 0) // what was deleted is back
				idle := run(0, 0)
				memory, cpu := watchMemory(), processorTime()
				b.StartTimer()
				took += run(0, stored-gone) - idle
				b.StopTimer()
				busy += processorTime() - cpu
				peak = max(peak, memory())
				if n, err := bed.Store.RecordKeys(b.Context(), Connection, "many", "", manyKey(stored-gone-1), 10); err != nil ||
					len(n) > 0 {
					b.Fatalf("%v is still there: %v", n, err)
				}
				b.StartTimer()
			}
			b.ReportMetric(took.Seconds()/float64(rounds), "s/comparison")
			b.ReportMetric(busy.Seconds()/float64(rounds), "cpu-s/run")
			b.ReportMetric(float64(peak)/(1<<20), "MiB-heap")
		})
	}
}

// watchMemory returns a function that returns how far the heap has grown meanwhile.
func watchMemory() func() uint64 {
	read := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := read()
	peak := before
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				peak = max(peak, read())
			}
		}
	})
	return func() uint64 { close(done); watch.Wait(); return peak - before }
}

// processorTime is that of this process and of the children that have ended.
func processorTime() (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return all
}
