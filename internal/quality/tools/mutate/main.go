// Command mutate measures whether the tests notice faults. It plants one fault at a time into the
// packages that join the parts of the program. It runs the tests that reach the fault, and reports
// the faults that no test noticed.
//
// The tree is never changed: a fault is in a copy that go test -overlay substitutes for the file.
// Programs that tests start also record their coverage, and are built with each fault. The seed
// and the code around each position determine the sample. A change elsewhere therefore leaves most
// of the sample unchanged. A fault that no test reaches counts as survived. Results:
// build/mutate.json.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// room is a set of packages with faults that are counted together. Proofs are the packages with
// tests of the shipped programs, cheapest first.
type room struct {
	Name   string
	Dirs   []string
	Proofs []string
}

var rooms = []room{
	{"launch", []string{"internal/collect/launch"},
		[]string{"internal/serve", "internal/schedule/scheduler", "internal/cli", "cmd/pdpp"}},
	{"scheduler", []string{"internal/schedule/scheduler"}, []string{"internal/serve", "internal/cli", "cmd/pdpp"}},
	{"serve", []string{"internal/serve"}, []string{"internal/cli", "cmd/pdpp"}},
	{"owner", []string{"internal/owner/service", "internal/owner/service/..."},
		[]string{"internal/owner/service", "internal/owner/routes", "internal/serve", "internal/cli",
			"internal/owner/console/status", "cmd/pdpp"}},
	{"console", []string{"internal/owner/console", "internal/owner/console/..."},
		[]string{"internal/owner/console/admin", "internal/owner/console/status", "internal/owner/console", "internal/serve",
			"internal/cli"}},
	{"cli", []string{"internal/cli", "internal/cli/..."}, []string{"internal/cli", "cmd/pdpp"}},
	{"connectors", []string{"connectors/..."}, nil},
	{"connectorkit", []string{"connectorkit", "connectorkit/..."}, nil},
	{"collector", []string{"internal/device/collector"},
		[]string{"cmd/pdpp-local-collector", "internal/quality/devicetest"}},
	{"deviceapi", []string{"internal/deviceapi"}, []string{"internal/web/server", "internal/quality/devicetest"}},
	{"oauth", []string{"internal/share/oauth"}, []string{"internal/web/server", "internal/serve"}},
	{"providerauth", []string{"internal/collect/providerauth"},
		[]string{"connectors/strava", "connectors/google_calendar", "internal/serve"}},
}

// users lists packages that use a shared package. Their tests prove it as it is shipped.
var users = map[string][]string{
	"connectorkit":                           {"connectors/example", "connectors/slack", "connectors/ynab"},
	"connectorkit/answers":                   {"connectors/example"},
	"connectorkit/browser":                   {"connectors/example_browser"},
	"connectorkit/browser/internal/devtools": {"connectors/example_browser"},
	"connectorkit/contentline":               {"connectors/carddav"},
	"connectorkit/dav":                       {"connectors/carddav", "connectors/caldav"},
	"connectorkit/failure":                   {"connectorkit", "connectors/example"},
	"connectorkit/googleapi":                 {"connectors/google_contacts", "connectors/google_calendar"},
	"connectorkit/rest":                      {"connectors/example", "connectors/strava", "connectors/ynab"},
	"connectorkit/rest/internal/changelists": {"connectorkit/rest", "connectors/google_calendar"},
	"connectorkit/rest/internal/parttimes":   {"connectorkit/rest", "declarative/source"},
	"connectorkit/rest/internal/rawjson":     {"connectorkit/rest", "connectors/strava"},
	"connectorkit/rest/internal/spool":       {"connectorkit/rest", "declarative/source"},
	"connectorkit/rest/internal/weblink":     {"connectorkit/rest", "connectors/github"},
	"connectorkit/icalendar":                 {"connectors/ical", "connectors/caldav"},
	"connectorkit/internal/driftwatch":       {"connectorkit"},
	"connectorkit/internal/listdetail":       {"connectorkit"},
	"connectorkit/internal/ownersettings":    {"connectorkit"},
	"connectorkit/internal/recordcheck":      {"connectorkit"},
	"connectorkit/internal/runnerlink":       {"connectorkit"},
	"connectorkit/internal/runstate":         {"connectorkit"},
	"connectorkit/internal/secretmask":       {"connectorkit"},
	"connectorkit/localarchive":              {"connectors/twitter_archive", "connectors/google_takeout"},
	"connectorkit/localdb":                   {"connectors/imessage", "connectors/browser_history"},
	"connectorkit/localfile": {"connectorkit/localarchive", "connectors/claude_code", "connectors/codex",
		"connectors/notes"},
	"connectorkit/message":       {"connectors/mail", "connectors/imap"},
	"connectorkit/publicaddress": {"declarative/source", "connectorkit/browser", "internal/schedule/notify"},
}

type config struct {
	Seed     string
	PerRoom  int
	Rooms    string
	Out      string
	Accepted string
	Work     string
	List     bool
	Whole    bool
	Only     string
}

func main() {
	var c config
	flag.StringVar(&c.Seed, "seed", "1", "which sample is taken")
	flag.IntVar(&c.PerRoom, "per-package", 20, "faults that compile, per package (with its sub-packages)")
	flag.StringVar(&c.Rooms, "packages", "", "only these, comma separated (default: all of "+roomNames()+")")
	flag.StringVar(&c.Out, "out", "build/mutate.json", "where the results go")
	flag.StringVar(&c.Accepted, "accepted", "internal/quality/tools/mutate/accepted.tsv",
		"survivors that are accepted, with their reasons")
	flag.StringVar(&c.Work, "work", "", "folder for copies and test programs (default: a temporary one)")
	flag.BoolVar(&c.List, "list", false, "print the sample without running anything")
	flag.BoolVar(&c.Whole, "whole", false,
		"run all tests of each package, without measuring what they reach")
	flag.StringVar(&c.Only, "only", "", "only faults with these ids, comma separated")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func roomNames() string {
	names := make([]string, len(rooms))
	for i, r := range rooms {
		names[i] = r.Name
	}
	return strings.Join(names, ", ")
}

func run(ctx context.Context, c config) error {
	began := time.Now()
	accepted, err := readAccepted(c.Accepted)
	if err != nil {
		return err
	}
	work := c.Work
	if work == "" {
		if work, err = os.MkdirTemp("", "mutate"); err != nil {
			return err
		}
		defer os.RemoveAll(work)
	}
	chosen := rooms
	if c.Rooms != "" {
		names := strings.Split(c.Rooms, ",")
		chosen = slices.DeleteFunc(slices.Clone(rooms), func(r room) bool { return !slices.Contains(names, r.Name) })
	}
	var watched []string
	for _, r := range chosen {
		dirs, err := expand(r.Dirs)
		if err != nil {
			return err
		}
		watched = append(watched, dirs...)
	}
	t := &trials{work: work, watched: watched, suites: map[string]*suite{}, whole: c.Whole,
		children: children{programs: shipped}}
	rep := report{Seed: c.Seed, PerPackage: c.PerRoom}
	for _, r := range chosen {
		dirs, err := expand(r.Dirs)
		if err != nil {
			return err
		}
		faults, err := findAll(dirs)
		if err != nil {
			return err
		}
		if c.Only != "" {
			ids := strings.Split(c.Only, ",")
			faults = slices.DeleteFunc(faults, func(f fault) bool { return !slices.Contains(ids, f.ID) })
		}
		sample := order(faults, c.Seed)
		if c.List {
			for _, f := range sample[:min(c.PerRoom, len(sample))] {
				fmt.Println(f.ID, f)
			}
			continue
		}
		results, err := t.tryRoom(ctx, r, sample, c.PerRoom)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		for i := range results {
			results[i].Room, results[i].Reason = r.Name, accepted[results[i].ID]
		}
		rep.Results = append(rep.Results, results...)
		if err := rep.write(c.Out); err != nil { // what was found so far, should the rest be stopped
			return err
		}
	}
	if c.List {
		return nil
	}
	rep.Took = time.Since(began).Round(time.Second).String()
	rep.print(os.Stdout)
	return rep.write(c.Out)
}

// expand returns the folders that match the patterns. It leaves out test support, because faults
// there never reach an owner.
func expand(patterns []string) ([]string, error) {
	var out []string
	for _, p := range patterns {
		root, below := strings.CutSuffix(p, "/...")
		if !below {
			out = append(out, p)
			continue
		}
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && strings.HasSuffix(path, "test") {
				return filepath.SkipDir
			}
			if err == nil && d.IsDir() && path != root {
				if sources, _ := filepath.Glob(filepath.Join(path, "*.go")); len(sources) > 0 {
					out = append(out, path)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return slices.Compact(out), nil
}
