package tryout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/source"
	"github.com/pdpp-go/pdpp/declarative/tryout"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// manifests is where our own source files of invented providers are.
var manifests = filepath.Join("..", "testdata", "manifests")

// unsupported are the files with streams that do not run, each with the part that the reason must name.
var unsupported = map[string]string{"workshop": "CustomRetriever"}

func files(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	if err != nil || len(paths) < 60 {
		t.Fatalf("%d source files: %v", len(paths), err)
	}
	return paths
}

func read(t *testing.T, path string) (name string, text []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(filepath.Base(path), ".yaml"), text
}

// Every file of ours collects exactly what its provider has, twice, and names what it does not collect.
func TestOwnFiles(t *testing.T) {
	t.Parallel()
	for _, path := range files(t) {
		name, text := read(t, path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := declarative.DescribeFile(text, describe.Options{Key: name})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Disabled) > 0 != (unsupported[name] != "") {
				t.Errorf("%d streams do not run", len(d.Disabled))
			}
			for _, s := range d.Disabled {
				if unsupported[name] == "" || !strings.Contains(s.Component+s.Reason, unsupported[name]) {
					t.Errorf("%s does not run for %q, which does not name %s", s.Name, s.Reason, unsupported[name])
				}
			}
			report, err := tryout.Run(t.Context(), text, tryout.Options{Key: name, Dir: t.TempDir(), Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			if err := report.Print(&table); err != nil || !report.OK() {
				t.Errorf("%v\n%s", err, &table)
			}
			for _, s := range report.Streams {
				if s.Expected == 0 || s.Requests == 0 || len(s.Notes) > 0 || len(s.Missing) > 0 {
					t.Errorf("the trial of %s shows nothing: %+v", s.Name, s)
				}
			}
		})
	}
}

// units are the parts of the format, in the order of their use in public files, each with a text that shows its use.
var units = []struct{ name, use string }{
	{"base", `DpathExtractor`},
	{"API key", `ApiKeyAuthenticator`},
	{"page number", `PageIncrement`},
	{"bearer token", `BearerAuthenticator`},
	{"offset", `OffsetIncrement`},
	{"substreams", `SubstreamPartitionRouter`},
	{"datetime cursor", `(?s)DatetimeBasedCursor.*(step|lookback_window)`},
	{"operators", ` (and|or|not|in|is|<|\+|~) .* else `},
	{"cursor token", `(?s)CursorPagination.*stop_condition`},
	{"host from settings", `url_base: "[^"]*config`},
	{"basic", `BasicHttpAuthenticator`},
	{"error handlers", `(?s)action: IGNORE.*action: RATE_LIMITED.*action: RETRY.*action: FAIL.*action: SUCCESS`},
	{"backoff", `(?s)ConstantBackoffStrategy.*ExponentialBackoffStrategy`},
	{"add fields", `AddFields`},
	{"next address", `RequestPath`},
	{"POST", `(?s)http_method: POST.*request_body`},
	{"list partitions", `ListPartitionRouter`},
	{"OAuth refresh token", `(?s)OAuthAuthenticator.*refresh_token:`},
	{"date functions", `(?s)format_datetime.*timestamp.*str_to_datetime.*duration`},
	{"incremental parents", `incremental_dependency: true`},
	{"session token", `SessionTokenAuthenticator`},
	{"filters", `(?s)\| int .*\| string .*\| length .*\| join.*\| default`},
	{"string methods", `(?s)\.split\(.*\.join\(.*\.replace\(.*\.startswith\(`},
	{"remove fields", `RemoveFields`},
	{"client credentials", `grant_type: client_credentials`},
	{"record filter", `RecordFilter`},
	{"feed, client side", `is_data_feed: true|is_client_side_incremental: true`},
	{"wait from header", `WaitTimeFromHeader`},
	{"choice of authenticators", `SelectiveAuthenticator`},
	{"cast to the schema", `schema_normalization: Default`},
	{"concurrency level", `ConcurrencyLevel`},
	{"declared limits", `HTTPAPIBudget`},
	{"statements", `(?s)\{% if .*\{% for .*\{% set `},
	{"single-use refresh tokens", `refresh_token_updater`},
	{"consent flow", `consent_url`},
	{"settings rules", `config_normalization_rules`},
	{"other transformations", `KeysToLower|KeysToSnakeCase|FlattenFields`},
	{"global substream cursor", `global_substream_cursor: true`},
	{"refresh then retry", `REFRESH_TOKEN_THEN_RETRY`},
	{"other grants", `grant_type: password`},
	{"signed tokens", `JwtAuthenticator`},
}

// Every unit of the format has a file, which TestOwnFiles runs.
func TestEveryUnitHasAFile(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for _, path := range files(t) {
		name, text := read(t, path)
		texts[name] = string(text)
	}
	for i, unit := range units {
		use, found := regexp.MustCompile(unit.use), []string{}
		for name, text := range texts {
			if use.MatchString(text) {
				found = append(found, name)
			}
		}
		if slices.Sort(found); len(found) == 0 {
			t.Errorf("no file uses unit %d, %s", i+1, unit.name)
		}
	}
}

// Refusals and damaged answers cost nothing but time, and a provider that loses items is found out.
func TestFaults(t *testing.T) {
	t.Parallel()
	passing := []providersim.Fault{
		{Kind: providersim.Throttle, Path: "/", Skip: 1, Count: 1, RetryAfter: providersim.RetrySeconds, Seconds: 1},
		{Kind: providersim.Unavailable, Path: "/", Skip: 3, Count: 1},
		{Kind: providersim.TruncatedJSON, Path: "/", Skip: 6, Count: 1},
		{Kind: providersim.Reset, Path: "/", Skip: 8, Count: 1},
	}
	for _, c := range []struct {
		name, file string
		faults     []providersim.Fault
		want       string // part of a problem; empty means none
	}{
		{"passing", "library", passing, ""},
		{"refused", "bramble", []providersim.Fault{{Kind: providersim.ExpiredToken, Path: "/"}}, "the run failed"},
		{"damaged items", "bramble", []providersim.Fault{{Kind: providersim.MissingField, Path: "/"}}, "records are missing"},
		{"other values", "bramble", []providersim.Fault{{Kind: providersim.WrongType, Field: "name", Path: "/"}},
			"records differ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name, text := read(t, filepath.Join(manifests, c.file+".yaml"))
			report, err := tryout.Run(t.Context(), text,
				tryout.Options{Key: name, Dir: t.TempDir(), Seed: 2, Faults: c.faults})
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(report.Problems); c.want == "" && !report.OK() || !strings.Contains(text, c.want) {
				t.Errorf("problems %s, want %q", text, c.want)
			}
			for _, p := range report.Problems {
				if p.Next == "" {
					t.Errorf("%q has no next step", p.Text)
				}
			}
		})
	}
}

// A file without a stream that runs cannot be tried, and the error reports it.
func TestNothingToTry(t *testing.T) {
	t.Parallel()
	text := []byte("version: 1.0.0\ntype: DeclarativeSource\nstreams:\n  - {type: DeclarativeStream, name: a, " +
		"retriever: {type: AsyncRetriever}}\n")
	_, err := tryout.Run(t.Context(), text, tryout.Options{Key: "none", Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "no stream of the file can run") {
		t.Error(errors.Join(errors.New("no error, or another one"), err))
	}
}

// A run that is killed anywhere loses nothing and invents nothing, for every file of ours. The long form kills the
// connector at every line.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	for _, path := range files(t) {
		name, text := read(t, path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := declarative.DescribeFile(text, describe.Options{Key: name})
			if err != nil {
				t.Fatal(err)
			}
			c, err := source.New(d)
			if err != nil {
				t.Fatal(err)
			}
			a, err := tryout.NewAccount(d, tryout.Options{Key: name, Seed: 3, Now: time.Now().UTC()})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			lines := 0
			whole := inprocess.NewMemoryRunner(t, c, a.Env)
			whole.Observe = func(protocol.Message) { lines++ }
			run := func(r *inprocess.MemoryRunner) recordSet {
				r.Try()
				skipped := fmt.Sprint(len(r.Skipped) > 0, unsupported[name] != "")
				if r.Done == nil || r.Done.Status != protocol.DoneSucceeded || skipped == "true false" {
					t.Fatalf("the run ended with %+v and skipped %q: %s", r.Done, r.Skipped, r.Log)
				}
				return comparableRecords(r.Records, a.Provider.Volatile())
			}
			want := run(whole)
			step := max(1, lines/3)
			if os.Getenv("PDPP_CHAOS_MINUTES") != "" {
				step = 1
			}
			killed := inprocess.NewMemoryRunner(t, c, whole.Env)
			for killed.KillAt = 2; killed.KillAt <= lines; killed.KillAt += step {
				killed.Try()
				if got := comparableRecords(killed.Records, a.Provider.Volatile()); !got.isPartOf(want) {
					t.Fatalf("after a kill at line %d of %d, something is stored that does not exist", killed.KillAt, lines)
				}
			}
			killed.KillAt = 0
			got := run(killed)
			if !got.isPartOf(want) || !want.isPartOf(got) || len(killed.Gaps()) > 0 {
				t.Errorf("%d records and %d gaps after kills, want %d: %s", len(got), len(killed.Gaps()), len(want), killed.Log)
			}
		})
	}
}

// recordSet is the records of all streams, without what depends on the time of a run.
type recordSet map[string]bool

func (s recordSet) isPartOf(other recordSet) bool {
	for record := range s {
		if !other[record] {
			return false
		}
	}
	return true
}

func comparableRecords(records map[string]map[string]string, volatile map[string][]string) recordSet {
	out := recordSet{}
	for stream, all := range records {
		for key, data := range all {
			if len(volatile[stream]) > 0 {
				key = "" // it may be a digest
			}
			var record map[string]any
			if json.Unmarshal([]byte(data), &record) == nil {
				for _, name := range append([]string{describe.DigestField}, volatile[stream]...) {
					delete(record, name)
				}
			}
			out[fmt.Sprint(stream, " ", key, " ", record)] = true
		}
	}
	return out
}
