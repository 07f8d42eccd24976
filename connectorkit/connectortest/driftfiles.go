package connectortest

import (
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/answers"
	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// driftFilesConfig is what the sheets of connectors of local files are learned from, and tried with.
var driftFilesConfig = files.Config{Seed: 4, Sessions: 6, Lines: 40}

// DetectDriftFiles shows that a connector of local files notices files that another version of their
// program wrote: a member more in every kind of document and line, a member less, a member of another
// type. Nothing may be lost by that, and nothing else may be called different. With -update the sheet
// of the connector is written from what it reads. With explicit changes, as of databases, only those are made, each
// change must be noticed, and the sheet stays as it was written by hand.
func DetectDriftFiles(t *testing.T, target LocalTarget, connector connectorkit.Connector,
	explicit ...providersim.Drifted) {
	t.Helper()
	if goldentest.Updating() && len(explicit) == 0 {
		learnFileSheet(t, target, connector)
		return
	}
	text, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatalf("no sheet of answers; write it with -update: %v", err)
	}
	sheet, err := answers.ParseSheet(string(text))
	if err != nil {
		t.Fatal(err)
	}
	before := newLocalHarness(t, target, driftFilesConfig)
	if noticed := Differences(before.Succeed(t)); len(noticed) > 0 {
		t.Errorf("files as they should be are called different: %+v", noticed)
	}
	changes, allowed := driftChanges(sheet, true)
	b := newLocalHarness(t, target, driftFilesConfig)
	want := map[string]bool{}
	if len(explicit) > 0 {
		changes, allowed = explicit, map[string]bool{}
	}
	for _, d := range explicit {
		for member := range expectedDifferences(d) {
			want[member], allowed[member[strings.Index(member, " ")+1:]] = true, true
		}
	}
	if err := files.Drift(b.tree.Root(), changes); err != nil {
		t.Fatal(err)
	}
	noticed := Differences(b.Succeed(t))
	if len(explicit) > 0 {
		requireAllowed(t, noticed, allowed)
	} else {
		requireDrift(t, noticed, allowed)
	}
	for _, d := range noticed {
		delete(want, string(d.Kind)+" "+d.Member)
	}
	if len(want) > 0 {
		t.Errorf("not noticed: %v", slices.Sorted(maps.Keys(want)))
	}
	for _, s := range target.Connector.Manifest.Streams {
		if want, got := len(before.storedRecords(t, s.Name)), len(b.storedRecords(t, s.Name)); got < want {
			t.Errorf("%s: %d records of the changed files, %d of those before", s.Name, got, want)
		}
	}
}

// learnFileSheet writes the sheet from everything that the connector reads of a world.
func learnFileSheet(t *testing.T, target LocalTarget, connector connectorkit.Connector) {
	t.Helper()
	sheet, err := answers.ParseSheet(handWrittenPart())
	if err != nil {
		t.Fatal(err)
	}
	world, err := target.Make(t.TempDir(), driftFilesConfig)
	if err != nil {
		t.Fatal(err)
	}
	env := target.Env(world.Root())
	open, end := io.Pipe()
	defer end.Close()
	var stderr bytes.Buffer
	connector.Learned = sheet
	if code := connectorkit.Run(t.Context(), connector, connectorkit.Process{
		Stdin: io.MultiReader(bytes.NewReader(StartAllStreams(t, connector)), open), Stdout: io.Discard, Stderr: &stderr,
		Env: func(name string) string { return env[name] }, Now: time.Now,
	}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	sheet.FinishLearning(decodedNames(t, target.Connector.Manifest, true))
	if err := os.WriteFile(answersFile, []byte(sheet.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// StartAllStreams returns the line that starts a run of every stream from nothing.
func StartAllStreams(t testing.TB, connector connectorkit.Connector) []byte {
	t.Helper()
	start := protocol.Start{RunID: "all", CollectionMode: protocol.Incremental}
	for _, s := range connector.Manifest.Streams {
		start.Scope.Streams = append(start.Scope.Streams, protocol.StreamScope{Name: s.Name})
	}
	line, err := protocol.AppendLine(nil, &start)
	if err != nil {
		t.Fatal(err)
	}
	return line
}
