// Command bench measures PDPP against limits found in the same run and prints
// ratios, because absolute figures of a shared machine say little.
//
// It measures the way of a record from a real child process through the runner,
// with every gate on, into the store, against the raw upsert of the same driver
// into the same table; the memory that the runner needs for it; and the decoder
// against encoding/json; a connection's way from evidence to verdict, and that
// of a page of them against its bare reads; and the goodput of a governed client
// against the rate of a real nginx and a real HAProxy, and of a tap that nobody can change, through the governing
// proxy, against a hidden limit. It measures the scheduler's passes over many
// connections against their bare statements and against fewer connections, many
// runs at once against fewer, two workers against one, and a server at rest; and the pages and
// routes of owners and clients against what they are made of and against fewer records; the overview of
// many records against that of few; and a
// connector of local files against a plain read of the same lines; and a history of conversations
// behind hidden buckets, in virtual time. The
// result goes to build/bench.json as well.
//
// The program plays most parts itself: started as "connector" it is the child,
// with the argument "collect" or "pass" it is the process whose memory is
// measured. What is measured from outside is built first. The part "browser" measures starts of the
// browser of connectors against the launcher of chromedp, and what requests through its page cost; the part "viewer" what its owner sees of it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/internal/lab/limitertest"
)

type config struct {
	Records   int
	Big       int
	Rounds    int
	FirstLoad int
	// FirstLoadStall is how long that of a gigabyte may make no progress.
	FirstLoadStall time.Duration
	// IdleTime is how long the service of a computer is watched that has nothing to do.
	IdleTime time.Duration
	Messages int
	Kept     int
	Indexed  int
	Only     string
	Out      string
	Postgres string
	// Nginx and HAProxy are programs. Each run against them takes LimiterTime, beside Busy
	// programs that only use up the processor.
	Nginx, HAProxy string
	LimiterTime    time.Duration
	Busy           int
	Limiter        string
}

func main() {
	if filepath.Base(os.Args[0]) == "connector" {
		playConnector()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	part := ""
	if len(os.Args) > 1 {
		part = os.Args[1]
	}
	switch part {
	case "collect":
		err = collectMain(ctx, os.Args[2:])
	case "pass":
		err = passMain(ctx, os.Args[2:])
	default:
		err = benchMain(ctx, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func benchMain(ctx context.Context, args []string) error {
	var c config
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&c.Records, "records", 200_000, "records per measurement")
	f.IntVar(&c.Big, "big", 1_000_000, "records of the long memory measurement")
	f.IntVar(&c.Rounds, "rounds", 3, "rounds of each comparison; the median counts")
	f.IntVar(&c.FirstLoad, "first-load", 128, "megabytes of the first load of a device; -only firstload loads 1000")
	f.DurationVar(&c.FirstLoadStall, "first-load-stall", 2*time.Minute, "the longest that the first load of -only firstload may bring nothing")
	f.DurationVar(&c.IdleTime, "idle-time", 125*time.Second, "how long the service of a device is watched at rest, for each number of files")
	f.IntVar(&c.Messages, "messages", 20_000, "messages of the account on a mail server; 200000 is the whole")
	f.IntVar(&c.Kept, "kept", 1_000_000, "records of the overview; 5000000 is the whole")
	f.IntVar(&c.Indexed, "indexed", 200_000, "records of the stream whose fields are indexed; 1000000 is the whole")
	f.StringVar(&c.Only, "only", "",
		"one part: decoder, verdict, sqlite, schemas, postgres, memory, due, concurrent, workers, idle, surfaces, overview, deletion, fields, beside, demo, governor, limiters, allowance (long, and only by its name), foreign, files, archives, chatgpt, ingest, device, firstload (long, and only by its name), profiles, blobs, imap, browser or viewer")
	f.StringVar(&c.Out, "out", "build/bench.json", "where the result is written")
	f.StringVar(&c.Postgres, "postgres", os.Getenv("PDPP_TEST_POSTGRES_URL"), "PostgreSQL to measure; without it that part is left out")
	f.StringVar(&c.Nginx, "nginx", os.Getenv(limitertest.Variable), "nginx program to measure against; without it that part is left out")
	f.StringVar(&c.HAProxy, "haproxy", os.Getenv(limitertest.HAProxyVariable), "HAProxy program to measure against; without it that part is left out")
	f.DurationVar(&c.LimiterTime, "limiter-time", 100*time.Second, "time of each run against nginx and HAProxy")
	f.StringVar(&c.Limiter, "limiter", "", "only the runs against limiters in whose name this is")
	f.IntVar(&c.Busy, "busy", 0, "programs that keep the processor busy beside the runs against nginx and HAProxy")
	if err := f.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pdpp-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	result := &report{Records: c.Records, RecordBytes: recordBytes}
	steps := []struct {
		name string
		run  func(context.Context, config, string, *report) error
	}{
		{"browser", measureBrowser}, {"viewer", measureViewer},
		{"decoder", measureDecoder}, {"verdict", measureVerdict}, {"sqlite", measureSQLite}, {"postgres", measurePostgres},
		{"schemas", measureSchemas}, {"memory", measureMemory}, {"due", measureDue}, {"concurrent", measureConcurrent},
		{"workers", measureWorkers}, {"idle", measureIdle}, {"surfaces", measureSurfaces}, {"overview", measureOverview},
		{"deletion", measureDeletion}, {"fields", measureFields}, {"beside", measureBeside}, {"demo", measureDemo},
		{"governor", measureGovernor}, {"limiters", measureLimiters}, {"allowance", measureAllowance},
		{"foreign", measureForeign}, {"files", measureFiles}, {"archives", measureArchives}, {"chatgpt", measureChatGPT},
		{"ingest", measureIngest}, {"profiles", measureProfiles}, {"device", measureDevice}, {"firstload", measureFirstLoad},
		{"blobs", measureBlobs}, {"imap", measureIMAP},
	}
	for _, step := range steps {
		if c.Only != "" && c.Only != step.name {
			continue
		}
		if err := step.run(ctx, c, dir, result); err != nil {
			return err
		}
	}
	return result.write(c.Out)
}

// report is what build/bench.json holds.
type report struct {
	Records     int       `json:"records"`
	RecordBytes int       `json:"record_bytes"`
	Ratios      []ratio   `json:"ratios"`
	Memory      []memory  `json:"memory"`
	Pacing      []pacing  `json:"pacing"`
	Limited     []limited `json:"limited"`

	Figures []figure `json:"figures"`

	Judgements []judgement `json:"judgements"`
	Pages      []page      `json:"pages"`
}

// ratio compares ours with a baseline of the same run.
type ratio struct {
	Name     string  `json:"name"`
	Ours     float64 `json:"ours_per_second"`
	Baseline float64 `json:"baseline_per_second"`
	Ratio    float64 `json:"ratio"`
	Want     float64 `json:"want_at_least"`
}

type memory struct {
	Name    string  `json:"name"`
	Records int     `json:"records"`
	PeakMiB float64 `json:"peak_rss_mib"`
	WantMiB float64 `json:"want_below_mib"`
}

// limited is what a client got from a limiter: goodput against the configured
// rate, and what the same client gets without a pace, backing off by full jitter, and
// with a pace of additive increase and multiplicative decrease.
type limited struct {
	Name           string  `json:"name"`
	Rate           float64 `json:"rate_per_second"`
	Ratio          float64 `json:"goodput_ratio"`
	Want           float64 `json:"want_at_least"`
	Refused        float64 `json:"refused_per_thousand"`
	WantRefused    float64 `json:"want_at_most_refused"`
	UnpacedRatio   float64 `json:"unpaced_goodput_ratio"`
	UnpacedRefused float64 `json:"unpaced_refused_per_thousand"`

	AdditiveRatio   float64 `json:"additive_goodput_ratio"`
	AdditiveRefused float64 `json:"additive_refused_per_thousand"`
}

func (r *report) compare(name string, ours, baseline []float64, want float64) {
	x := ratio{Name: name, Ours: median(ours), Baseline: median(baseline), Want: want}
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / baseline[i]
	}
	x.Ratio = median(ratios)
	r.Ratios = append(r.Ratios, x)
	fmt.Printf("%-46s %9.0f/s  baseline %9.0f/s  ratio %.2f (want >= %.2f)%s\n", x.Name, x.Ours, x.Baseline, x.Ratio, x.Want, missed(x.Ratio < x.Want))
}

func (r *report) remember(name string, m measured, want float64) {
	x := memory{Name: name, Records: m.Records, PeakMiB: float64(m.PeakRSS) / (1 << 20), WantMiB: want}
	r.Memory = append(r.Memory, x)
	fmt.Printf("%-46s %9d records  peak RSS %.1f MiB (want < %.0f)%s\n", x.Name, x.Records, x.PeakMiB, x.WantMiB, missed(x.PeakMiB >= x.WantMiB))
}

func (r *report) limit(x limited) {
	r.Limited = append(r.Limited, x)
	fmt.Printf("%-36s goodput %.2f of the rate (want >= %.2f)  refused %5.1f per 1000 (want <= %.0f)  unpaced %.2f, %.1f",
		x.Name, x.Ratio, x.Want, x.Refused, x.WantRefused, x.UnpacedRatio, x.UnpacedRefused)
	if x.AdditiveRatio > 0 {
		fmt.Printf("  AIMD %.2f, %.1f", x.AdditiveRatio, x.AdditiveRefused)
	}
	fmt.Println(missed(x.Ratio < x.Want || x.Refused > x.WantRefused))
}

// missed marks a line whose target was not reached. It does not fail the
// program: on a busy machine a second run is the better answer.
func missed(yes bool) string {
	if yes {
		return "  MISSED"
	}
	return ""
}

func (r *report) write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
