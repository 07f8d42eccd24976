package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// machineCommands need the machine itself, each for its reason, and refuse a server.
var machineCommands = map[string]string{
	"serve": "is the server", "demo": "is a server of its own", "doctor": "looks at this installation",
	"verify /nowhere/file":                     "reads a file of this machine",
	"backup /nowhere/file":                     "copies the files of this home",
	"restore /nowhere/file --to /nowhere/home": "replaces the files of this home",
	"run orchard":                              "collects in the foreground",
	"move --to home":                           "reads and writes the files of this home",
	"upgrade --check":                          "is about the program of this machine",
	"service":                                  "asks the system of this machine",
	"service install":                          "starts the server of this machine",
	"service remove":                           "stops the server of this machine",
	"service status":                           "asks the system of this machine",
	"service logs":                             "reads the log of this machine",
	"connectors":                               "lists the programs that are installed here",
	"connectors confirm orchard":               "looks at a program",
	"connectors set orchard --path /bin/sh":    "looks at a program",
	"connectors use orchard --folder":          "looks at a program",
	"connections add orchard":                  "looks at a program",
	"support cin_well":                         "writes a file of this machine's facts",
}

// ownerCommands are put to the owner, wherever that is.
var ownerCommands = []string{
	"mirror /nowhere/folder --connection cin_none", "archive /proc/everything",
	"sql SELECT", "sql trees --stream trees --connection cin_well", "sql --csv _about", "sql VALUES(1.5,NULL,'a')",
	"connect orchard", "connectors show orchard",
	"connectors add everycommand_test.go --name orchard", "connectors remove orchard --yes",
	"rename cin_well Pear", "select cin_well", "search pear", "status",
	"why cin_well", "rate cin_well", "rate cin_failed --runs 2", "devices", "devices diagnostics", "limits cin_well",
	"grants", "grants list", "grants show gr_1", "grants create app --stream cin_well/trees --purpose x",
	"grants revoke gr_1", "grants request req_1", "grants approve req_1 --expires 30d", "grants refuse req_1",
	"tokens", "tokens list", "tokens create Laptop", "tokens revoke ot_1", "sessions", "sessions list",
	"sessions end ses_1", "passkeys", "passkeys list", "passkeys remove pk_1",
	"recovery-codes", "recovery-codes create", "audit", "audit keep 30", "runs", "run show run_1",
	"status cin_well", "status cin_new", "status cin_locked", "status cin_failed", "status cin_attic",
	"why cin_new", "why cin_locked", "why cin_failed", "why cin_attic", "run show run_cin_failed_failed",
	"runs --all --status failed", "runs --connection cin_failed",
	"streams --connection cin_failed", "records trees --connection cin_well --oldest",
	"changes trees --connection cin_well", "gaps --connection cin_well --status pending",
	"limits cin_well --per-minute 30", "limits cin_new --run-items -1", "export --connection cin_well --format csv",
	"rename cin_none Pear",
	"schedule", "schedule list", "schedule set cin_well --every 6h", "schedule pause cin_well", "schedule resume cin_well",
	"schedule remove cin_well",
	"run cin_well --now --recovery-only", "run cin_well --now", "workers", "cancel cin_well", "cancel cin_well",
	"cancel run_none", "answer cin_well", "notify", "notify add ntfy https://ntfy.example/x", "notify remove tgt_1",
	"notify test", "notify test tgt_none", "notify quiet off",
	"credential set cin_well", "connections", "streams", "overview", "overview days --from 2025-01-01 --to 2025-12-31",
	"overview days --from soon", "storage", "records trees --connection cin_well", "aggregate trees --connection cin_well",
	"occurrences trees --connection cin_well --from 2026-03-01 --zone UTC", "record trees t1 --connection cin_well",
	"file " + strings.Repeat("ab", 32),
	"changes --connection cin_well", "gaps", "gaps list", "gaps retry gap_1", "gaps ignore gap_1 --reason x",
	"gaps explain gap_1",
	"state --connection cin_well", "password", "state show --connection cin_well", "state log trees --connection cin_well",
	"state diff trees 1 2 --connection cin_well",
	"state rewind trees 1 --connection cin_well --yes", "export --connection cin_well", "revoke cin_well",
	"workers", "attention", "attention --all", "attention accept att_1", "attention accept att_2",
	"attention accept att_none", "credential show cin_locked", "credential show cin_well",
	"credential remove cin_locked", "credential remove cin_locked",
	"run show run_part", "status cin_part", "gaps --connection cin_part", "gaps --connection cin_part --status terminal",
	"gaps explain " + gone, "gaps retry " + gone, "gaps explain " + waits,
	"gaps ignore " + waits + " --reason old", "gaps explain " + waits, "gaps retry " + waits,
	"state show --connection cin_part", "state log trees --connection cin_part",
	"state diff trees 1 2 --connection cin_part", "state diff trees 1 9 --connection cin_part",
	"state rewind trees 9 --connection cin_part --yes", "state rewind trees 1 --connection cin_part --yes",
	"state log trees --connection cin_part --limit 1", "changes --connection cin_part",
	"devices list", "devices add orchard", "devices add none", "devices codes", "devices cancel dcode_none",
	"devices rename dev_1 Loft", "devices rename dev_none Loft",
	"devices revoke dev_none", "devices diagnostics", "devices revoke dev_1",
	"devices revoke dev_1 --undo-since 2026-01-01T00:00:00Z", "devices", "status cin_attic",
	"searches", "searches save Pears pear tree --connection cin_well",
	"searches save Days --address /day/2026-03-04?record=x", "searches save Days pear",
	"searches save Nothing --address https://else.example/records?q=x",
	"searches", "search --saved Pears", "search --saved Days", "search --saved None", "searches rename Pears Trees",
	"searches rename Days Trees", "searches delete Days", "searches delete Days", "searches",
	"webhooks", "webhooks add https://127.0.0.1/in", "webhooks add https://ledger.example/in --stream none",
	"webhooks pause wh_none", "webhooks resume wh_none", "webhooks test wh_none", "webhooks remove wh_none",
	"webhooks rotate wh_none", "webhooks replay wh_none --stream trees --since beginning",
	"people", "people pear --order name", "people show per_none", "people show nobody",
	"people join per_none per_other",
	"people split per_none per_other", "people mine per_none", "people notmine per_none", "day", "day 2026-03-04",
	"semantic", "semantic set ollama ftp://127.0.0.1 small", "semantic off", "search pear --by both",
	"triggers", "triggers add cin_none", "triggers add cin_part --kind none", "triggers remove tr_none",
	"delete cin_part --dry-run", "delete cin_part --stream trees --record t1 --yes",
	"record trees t1 --connection cin_part", "delete cin_part --stream none --yes", "delete --since soon --yes",
	"delete --everything cin_part",
	"delete cin_part --record t1", "delete cin_part --until 2020-01-01 --yes", "delete cin_part --yes", "deletions",
	"deletions ended", "deletions held 2026-01-01", "deletions held 1999-12-01", "deletions show del_no",
	"deletions undo del_no", "deletions purge del_no", "deletions collect del_no",
	"import cin_well everycommand_test.go", "imports cin_well", "imports cin_well --undo imp_none --yes",
	"delete --everything --now --yes", "deletions", "deletions ended", "search pear",
}

// partly is what a run of cin_part did not get.
var partly = []slice.Gap{
	{Stream: "trees", RecordKey: "t9", Reason: protocol.ReasonRateLimited, Retryable: true,
		Locator: jsontext.Value(`{"path":"/trees/t9"}`)},
	{Stream: "trees", RecordKey: "t8", Reason: protocol.ReasonPermanentForbidden, Locator: jsontext.Value(`{}`),
		LastError: jsontext.Value(`{"status":403}`)},
}

var waits, gone = store.GapID("cin_part", "", partly[0])[:16], store.GapID("cin_part", "", partly[1])[:16]

// part adds a connection that has collected in part, with a timeline and two bookmarks.
func (s *statusShop) part() {
	s.t.Helper()
	at, ctx := s.ago(3*time.Hour), s.t.Context()
	s.add("cin_part", "In part", store.SourceAccount)
	l, err := s.StartRun(ctx, store.RunStart{RunID: "run_part", ConnectionID: "cin_part", ConnectorID: "nursery",
		Trigger: store.TriggerScheduled, Holder: "test", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: "trees"}}}, at)
	s.must(err)
	for i, gaps := range [][]slice.Gap{partly, nil} {
		_, err = s.CommitSlice(ctx, l, slice.Slice{
			Records: []slice.Record{{Stream: "trees", Key: fmt.Sprint("t", i), Data: []byte(`{"id":"t"}`),
				EmittedAt: at.Format(time.RFC3339)}},
			Gaps: gaps, Cursors: []slice.Cursor{{Stream: "trees", Mode: protocol.SteadyState,
				Cursor: jsontext.Value(fmt.Sprintf(`{"page":%d,"of":9}`, i+1))}},
			Events: []slice.Event{
				{Type: "run.progress_reported", At: at, Stream: "trees",
					Data: jsontext.Value(fmt.Sprintf(`{"count":%d,"total":9,"message":"page %d"}`, i, i))},
				{Type: "run.stream_skipped", At: at, Stream: "trees", Data: jsontext.Value(`{"reason":"permanent_forbidden"}`)},
			},
		}, at.Add(time.Duration(i)*time.Minute))
		s.must(err)
	}
	s.must(s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, RecordsEmitted: 2,
		Event: slice.Event{Type: "run.completed", Data: jsontext.Value(`{"records_emitted":2}`)},
		Facts: jsontext.Value(`{"streams":[{"stream":"trees","collected":2,"considered":4,"covered":2,` +
			`"checkpoint":"committed"}]}`)}, at.Add(2*time.Minute)))
}

// otherCommands are about nothing that is kept.
var otherCommands = []string{"login", "logout", "man", "version", "exit-codes", "help", "completion", "completion bash",
	"completion zsh", "completion fish", "completion powershell", "credential", "demo source", "thumbnail", "mcp",
	"mcp setup", "open"}

// Every command uses the named server, or reports that it needs this machine. None returns the data of this machine
// instead.
func TestNoCommandAnswersForTheWrongMachine(t *testing.T) {
	s := newStatusShop(t)
	vars := map[string]string{"HOME": t.TempDir(), "PDPP_HOME": s.home, "PDPP_SERVER": "http://127.0.0.1:1",
		"PDPP_TOKEN": "pdpp_ot_invented", "PDPP_NEW_OWNER_PASSWORD": "correct horse battery"}
	known := map[string]bool{}
	root := newRootCommand(&command.Invocation{})
	pathOf := func(line string) string {
		found, _, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return found.CommandPath()
	}
	code := func(line string) (int, string, string) {
		env, out, errOut := testEnvironment(t, vars, append(strings.Fields(line), "--json")...)
		return Main(env), out.String(), errOut.String()
	}
	for line, reason := range machineCommands {
		known[pathOf(line)] = true
		if exit, out, errOut := code(line); exit != failure.ExitUsage || out != "" ||
			!strings.Contains(errOut, `"code":"`+"needs_this_machine"+`"`) ||
			!strings.Contains(errOut, `"next_step":"Run it on the server's machine`) {
			t.Errorf("%s %s, and does not refuse a server: exit %d, %s%s", line, reason, exit, out, errOut)
		}
	}
	for _, line := range ownerCommands {
		known[pathOf(line)] = true
		if exit, out, errOut := code(line); exit != failure.ExitStorage || out != "" ||
			!strings.Contains(errOut, `"code":"server_unreachable"`) {
			t.Errorf("%s is not put to the server: exit %d, %s%s", line, exit, out, errOut)
		}
	}
	for _, line := range otherCommands {
		known["pdpp "+line] = true
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() && c != root && !known[c.CommandPath()] {
			t.Errorf("%s is in no list: is it put to the owner, or does it need the machine?", c.CommandPath())
		}
		for _, inner := range c.Commands() {
			walk(inner)
		}
	}
	walk(root)
}

// made is what is drawn by lot when something is made, and what is measured of this machine.
var made = regexp.MustCompile(`\b(pdpp_[og]t_\w+|(ot|gr|tgt|sea|del)_\w{6,}|[0-9a-z]{4}(-[0-9a-z]{4}){3})|` +
	`"(database|disk|disk_free)_bytes":\d+|[\d.]+ [KMGT]iB (are taken|are free)|Whole database +[\d.]+ [KM]iB`)

// tellsOtherwise lists the commands with a different result on a server, and the reason.
var tellsOtherwise = map[string]string{
	"audit": "the trail tells who did it: a command here, a token there",
}

// What every command of the owner prints, does and refuses is as it was, and the same over a
// server as on its machine: two homes that are alike are asked in the same order, one of them
// remotely.
//
//pdpp:tier unraced
func TestRemoteIsTheSame(t *testing.T) {
	t.Attr("spec", "CH-06.1")
	local, remote := newStatusShop(t), newStatusShop(t)
	for _, s := range []*statusShop{local, remote} {
		at := s.ago(time.Minute)
		s.part()
		s.must(s.PutWorker(t.Context(), store.Worker{ID: "w1", Host: "lantern", PID: 7, Version: "1.0.0",
			Capabilities: []string{"network"}, Slots: 2, StartedAt: at, SeenAt: s.ago(0)}))
		for id, kind := range map[string]verdict.ActionKind{"att_1": verdict.Reauth, "att_2": verdict.ReattachSchedule} {
			r := attention.AttentionRecord{ID: id, ConnectionID: "cin_failed", Kind: string(kind), Contract: "x", Words: "Do it",
				Affects:   []string{"trees"},
				Lifecycle: evidence.AttentionOpen, OpenedAt: at, UpdatedAt: at, Notice: attention.NoticePending}
			s.must(s.SaveAttention(t.Context(), []attention.AttentionRecord{r}, nil))
		}
	}
	tell := func(vars map[string]string, args ...string) string {
		env, out, errOut := testEnvironment(t, vars, args...)
		code := Main(env)
		return made.ReplaceAllString(fmt.Sprintf("exit %d\n%s%s", code, out, errOut), "X")
	}
	served := func(s *statusShop) map[string]string {
		address, token := serveShop(t, s)
		vars := map[string]string{"HOME": t.TempDir(), "PDPP_SERVER": address, "PDPP_TOKEN": token,
			"PDPP_NEW_OWNER_PASSWORD": "correct horse battery"}
		tell(vars, "status") // the token has been used at both
		return vars
	}
	there := served(remote)
	here := served(local)
	here["PDPP_HOME"], here["PDPP_SERVER"] = local.home, "local"
	var output strings.Builder
	for _, line := range ownerCommands {
		for _, form := range [][]string{nil, {"--json"}} {
			args := append(strings.Fields(line), form...)
			want, got := tell(here, args...), tell(there, args...)
			if form == nil {
				fmt.Fprintf(&output, "$ pdpp %s\n%s\n", strings.Join(args, " "), strings.ReplaceAll(want, local.home, "HOME"))
			}
			if got != want && tellsOtherwise[line] == "" {
				t.Errorf("%v\nlocal:  %s\nremote: %s", args, want, got)
			}
		}
	}
	goldentest.Hold(t, "commands.txt", output.String())
}
