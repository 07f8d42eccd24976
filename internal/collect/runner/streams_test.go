package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

func names(order []*stream) []string {
	var out []string
	for _, st := range order {
		out = append(out, st.name)
	}
	return out
}

func TestDefaultScopeIsWhatCanBeCollected(t *testing.T) {
	order, err := resolveScope(Spec{Manifest: sample(t), Scope: nil})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"notes", "events", "pairs", "numbers", "legacy", "archive", "threads", "folders",
		"messages", "files", "albums", "photos", "rider"}
	if diff := cmp.Diff(want, names(order)); diff != "" {
		t.Errorf("default scope (-want +got):\n%s", diff)
	}
}

func TestExplicitScopeMayNameAnUnsupportedStream(t *testing.T) {
	order, err := resolveScope(Spec{Manifest: sample(t), Scope: scope("future")})
	if err != nil || len(order) != 1 {
		t.Fatalf("resolveScope = %v, %v", names(order), err)
	}
}

func TestScopeAnchors(t *testing.T) {
	order, err := resolveScope(Spec{Manifest: sample(t), Scope: scope("threads", "messages", "folders")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"messages"}, order[0].details); diff != "" {
		t.Errorf("threads anchors only what is in scope (-want +got):\n%s", diff)
	}
	if len(order[2].details) != 0 {
		t.Errorf("folders anchors %v, which is out of scope", order[2].details)
	}
}

func TestScopeMistakes(t *testing.T) {
	ranged := func(since, until string) []protocol.StreamScope {
		return []protocol.StreamScope{{Name: "notes", TimeRange: &protocol.TimeRange{Since: since, Until: until}}}
	}
	empty := *sample(t)
	empty.Streams = nil
	for name, c := range map[string]struct {
		m     *manifest.Manifest
		scope []protocol.StreamScope
		want  string
	}{
		"unknown stream": {sample(t), scope("nodes"),
			`"nodes" is not declared by connector sample; it declares notes, events,`},
		"blank name":       {sample(t), scope(""), `"" is not declared`},
		"wildcard":         {sample(t), scope("*"), `"*" is not declared`},
		"twice":            {sample(t), scope("notes", "notes"), `"notes" is named twice`},
		"nothing":          {&empty, nil, "no stream to collect"},
		"range of nothing": {sample(t), ranged("", ""), `stream "notes": time_range names neither since nor until`},
		"unreadable since": {sample(t), ranged("yesterday", ""),
			`time_range.since: "yesterday" is not an RFC 3339 time or a date`},
		"unreadable until":  {sample(t), ranged("", "soon"), `time_range.until: "soon"`},
		"range of no width": {sample(t), ranged("2026-01-01", "2026-01-01T00:00:00Z"), "is empty: since is not before until"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := resolveScope(Spec{Manifest: c.m, Scope: c.scope})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestFieldsAreWidenedByWhatARecordNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		scope protocol.StreamScope
		want  []string
	}{
		"none asked for":   {protocol.StreamScope{Name: "notes"}, nil},
		"required and key": {protocol.StreamScope{Name: "notes", Fields: []string{"title"}}, []string{"id", "title"}},
		"asked for twice": {protocol.StreamScope{Name: "notes", Fields: []string{"title", "id", "title"}},
			[]string{"id", "title"}},
		"compound key": {protocol.StreamScope{Name: "pairs", Fields: []string{"title"}}, []string{"a", "b", "title"}},
		"time of a range": {protocol.StreamScope{Name: "notes", Fields: []string{"body"},
			TimeRange: &protocol.TimeRange{Since: "2026-01-01"}}, []string{"at", "body", "id"}},
		"range without field": {protocol.StreamScope{Name: "folders", Fields: []string{"body"},
			TimeRange: &protocol.TimeRange{Since: "2026-01-01"}}, []string{"body", "id"}},
	} {
		t.Run(name, func(t *testing.T) {
			order, err := resolveScope(Spec{Manifest: sample(t), Scope: []protocol.StreamScope{c.scope}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, order[0].Scope.Fields); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStartSaysWhatTheRunMayDo(t *testing.T) {
	d := newDialogue(t)
	d.owe("m1")
	d.asker = askerFunc(nil)
	d.spec.Scope = []protocol.StreamScope{
		{Name: "notes", Resources: []string{"n1"}, Fields: []string{"title"},
			TimeRange: &protocol.TimeRange{Since: "2026-01-01"}},
		{Name: "messages"},
	}
	d.spec.Mode = protocol.FullRefresh
	d.spec.State = map[string]jsontext.Value{"notes": jsontext.Value(`{"n":1}`)}
	d.spec.CatchUpState = map[string]jsontext.Value{"notes": jsontext.Value(`{"n":0}`)}
	d.spec.RecoveryOnly = true
	var got *protocol.Start
	mustSucceed(t, d.play(t.Context(), func(c *connector) int {
		got = c.start()
		return c.done(protocol.DoneSucceeded)
	}))
	want := &protocol.Start{
		RunID: "run-1", CollectionMode: protocol.FullRefresh, RecoveryOnly: true,
		Scope: protocol.Scope{Streams: []protocol.StreamScope{
			{Name: "notes", Resources: []string{"n1"}, Fields: []string{"at", "id", "title"},
				TimeRange: &protocol.TimeRange{Since: "2026-01-01"}},
			{Name: "messages"},
		}},
		State:        protocol.Cursors{"notes": jsontext.Value(`{"n":1}`)},
		CatchUpState: protocol.Cursors{"notes": jsontext.Value(`{"n":0}`)},
		Bindings:     bindings("filesystem", "interactive"),
		DetailGaps: []protocol.GapEntry{{GapID: "gap-m1", LeaseID: "page-1:gap-m1", Stream: "messages",
			ParentStream: "threads",
			RecordKey:    "m1", DetailLocator: object(), Status: protocol.GapPending, ReferenceOnly: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("START (-want +got):\n%s", diff)
	}
}

// The command leaves a trace when it is executed; a refused run must not.
func TestMissingBindingFailsBeforeSpawn(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "executed")
	run := func(offered ...string) Outcome {
		d := newDialogue(t, "notes")
		d.spec.Bindings = bindings(offered...)
		d.spec.Command = childprocess.Command{Path: "/bin/sh", Args: []string{"-c", `: > "$0"`, trace}}
		return Run(t.Context(), d.spec, d, d, nil, Options{})
	}
	o := run("network", "interactive")
	mustFail(t, o, ReasonBindingMissing)
	if o.Failure.Message != "Runtime cannot satisfy required binding: filesystem" || o.Status != Failed {
		t.Errorf("failure = %s: %s", o.Status, o.Failure.Message)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Fatal("the command was executed although a required binding is missing")
	}

	t.Attr("spec", "RT-06.1")
	if o := run("network", "filesystem"); o.Failure.Reason == ReasonBindingMissing {
		t.Errorf("filesystem is offered and refused all the same: %v", o.Failure)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Error("the command was not executed although filesystem is offered")
	}
}

// Interactive is offered exactly when the run has an Asker, whatever the machine's bindings are.
func TestInteractiveNeedsAnAsker(t *testing.T) {
	d := newDialogue(t, "notes")
	m := *d.spec.Manifest
	m.RuntimeRequirements = &manifest.RuntimeRequirements{Bindings: map[manifest.Binding]manifest.BindingUse{
		manifest.BindingInteractive: {Required: true},
	}}
	d.spec.Manifest = &m
	d.spec.Bindings = bindings("filesystem", "interactive")
	mustFail(t, d.say(t), ReasonBindingMissing)
	d.asker = askerFunc(nil)
	mustSucceed(t, d.say(t))
}

func TestPreparationCanFail(t *testing.T) {
	t.Run("mode", func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.spec.Mode = "sideways"
		o := d.say(t)
		mustFail(t, o, ReasonInvalidScope)
		if !strings.Contains(o.Failure.Message, `"sideways"`) {
			t.Errorf("message = %q", o.Failure.Message)
		}
	})
	t.Run("gap source", func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.leaseErr = errDiskFull
		mustFail(t, d.say(t), ReasonStorage)
	})
	t.Run("cancelled before it starts", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(ErrOwnerCancelled)
		d := newDialogue(t, "notes")
		o := d.play(ctx, func(*connector) int { t.Error("the connector was started"); return 0 })
		mustFail(t, o, ReasonOwnerCancelled)
		if o.Status != Cancelled || len(o.Events) != 1 || o.Events[0].Type != "run.cancelled" {
			t.Errorf("outcome = %s with %v", o.Status, o.Events)
		}
	})
}

// A run over selected records or a time range marks its counts as partial, without naming the records.
func TestNarrowedRunSaysSo(t *testing.T) {
	for name, tt := range map[string]struct {
		scope protocol.StreamScope
		want  string
	}{
		"everything":     {protocol.StreamScope{Name: "notes"}, ""},
		"some fields":    {protocol.StreamScope{Name: "notes", Fields: []string{"id"}}, ""},
		"chosen records": {protocol.StreamScope{Name: "notes", Resources: []string{"n1"}}, `{"resources":true}`},
		"a range": {protocol.StreamScope{Name: "notes", TimeRange: &protocol.TimeRange{Since: "2026-01-01T00:00:00Z"}},
			`{"time_range":{"since":"2026-01-01T00:00:00Z"}}`},
	} {
		d := newDialogue(t, "notes")
		d.spec.Scope = []protocol.StreamScope{tt.scope}
		o := d.say(t)
		mustSucceed(t, o)
		if got := string(o.Facts.Streams[0].Scope); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
