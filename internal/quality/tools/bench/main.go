// Command bench measures PDPP against limits found in the same run and prints ratios, because
// absolute figures of a shared machine mean little. It writes build/bench.json as well. The table
// parts lists what is measured.
//
// The program plays most roles itself. Started as "connector" it is the child process of a run.
// With the argument "collect", "export" or "pass" it is the process under memory measurement.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/internal/quality/limitertest"
)

type config struct {
	Records   int
	Big       int
	Rounds    int
	FirstLoad int
	IdleTime  time.Duration
	Kept      int
	Only      string
	Out       string
	Postgres  string
	// Nginx and HAProxy are programs. Each run against them takes LimiterTime, while Busy other programs use up the
	// processor. Limiter selects runs by a part of their name.
	Nginx, HAProxy string
	LimiterTime    time.Duration
	Busy           int
	Limiter        string
}

// part is one measurement, chosen with -only.
type part struct {
	name    string
	measure func(context.Context, config, string, *report) error
	about   string
	byName  bool // it takes so long that it runs only when -only names it
}

var parts = []part{
	{name: "verdict", measure: measureVerdict, about: "evidence to verdict for one connection, and for a page of them"},
	{name: "sqlite", measure: measureSQLite,
		about: "records per second from a child process into SQLite, against raw upserts"},
	{name: "postgres", measure: measurePostgres, about: "the same for PostgreSQL"},
	{name: "memory", measure: measureMemory, about: "peak memory of the runner while it collects"},
	{name: "due", measure: measureDue, about: "scheduler passes over many connections, against their bare statements"},
	{name: "workers", measure: measureWorkers, about: "two workers against one"},
	{name: "idle", measure: measureIdle, about: "memory and processor time of a server at rest"},
	{name: "surfaces", measure: measureSurfaces, about: "pages and routes of owners and clients"},
	{name: "overview", measure: measureOverview, about: "overview, day and search over many records, against few"},
	{name: "deletion", measure: measureDeletion, about: "deleting many records for good while pages are opened"},
	{name: "governor", measure: measureGovernor, about: "processor time per decision of the governor"},
	{name: "limiters", measure: measureLimiters, about: "goodput against the rate of a real nginx and a real HAProxy"},
	{name: "allowance", measure: measureAllowance, about: "runs and workers that share one quota", byName: true},
	{name: "foreign", measure: measureForeign, about: "a Singer tap through the governing proxy, against a hidden limit"},
	{name: "files", measure: measureFiles, about: "a connector of local files, against a plain read of the same lines"},
	{name: "ingest", measure: measureIngest, about: "batches of devices at the server, against the bare commit"},
	{name: "export", measure: measureExport, about: "records written in every format"},
	{name: "mirror", measure: measureMirror, about: "a mirror in a folder and in a bucket, against an export"},
	{name: "declared", measure: measureDeclared, about: "a source that is a file, against the same source in Go"},
	{name: "device", measure: measureDevice, about: "first load and latency of a device with the shipped programs"},
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
	case "export":
		err = exportMain(ctx, os.Args[2:])
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
	f.IntVar(&c.FirstLoad, "first-load", 128, "megabytes of the first load of a device")
	f.DurationVar(&c.IdleTime, "idle-time", 125*time.Second,
		"how long the service of a device is watched at rest, for each number of files")
	f.IntVar(&c.Kept, "kept", 1_000_000, "records of the overview; 5000000 is the whole")
	f.StringVar(&c.Only, "only", "", "measure one part")
	f.StringVar(&c.Out, "out", "build/bench.json", "where the result is written")
	f.StringVar(&c.Postgres, "postgres", os.Getenv("PDPP_TEST_POSTGRES_URL"),
		"PostgreSQL to measure; without it that part is left out")
	f.StringVar(&c.Nginx, "nginx", os.Getenv(limitertest.Variable),
		"nginx program to measure against; without it that part is left out")
	f.StringVar(&c.HAProxy, "haproxy", os.Getenv(limitertest.HAProxyVariable),
		"HAProxy program to measure against; without it that part is left out")
	f.DurationVar(&c.LimiterTime, "limiter-time", 100*time.Second, "time of each run against nginx and HAProxy")
	f.StringVar(&c.Limiter, "limiter", "", "only the runs against limiters in whose name this is")
	f.IntVar(&c.Busy, "busy", 0, "programs that keep the processor busy beside the runs against nginx and HAProxy")
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "bench [options] measures these parts:")
		for _, p := range parts {
			note := ""
			if p.byName {
				note = " (only with -only)"
			}
			fmt.Fprintf(f.Output(), "  %-10s %s%s\n", p.name, p.about, note)
		}
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.Only != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == c.Only }) {
		return fmt.Errorf("there is no part %q; -help lists the parts", c.Only)
	}
	dir, err := os.MkdirTemp("", "pdpp-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	result := &report{Records: c.Records, RecordBytes: recordBytes}
	for _, p := range parts {
		if c.Only != p.name && (c.Only != "" || p.byName) {
			continue
		}
		if err := p.measure(ctx, c, dir, result); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
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
	fmt.Printf("%-46s %9.0f/s  baseline %9.0f/s  ratio %.2f (want >= %.2f)%s\n", x.Name, x.Ours, x.Baseline, x.Ratio,
		x.Want, missed(x.Ratio < x.Want))
}

func (r *report) remember(name string, m measured, want float64) {
	x := memory{Name: name, Records: m.Records, PeakMiB: float64(m.PeakRSS) / (1 << 20), WantMiB: want}
	r.Memory = append(r.Memory, x)
	fmt.Printf("%-46s %9d records  peak RSS %.1f MiB (want < %.0f)%s\n", x.Name, x.Records, x.PeakMiB, x.WantMiB,
		missed(x.PeakMiB >= x.WantMiB))
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

// missed returns a mark for a line that misses its target. It does not fail the program, because
// on a busy machine a second run is more useful.
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
