package demo

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/protocol"
)

//go:embed sources
var manifests embed.FS

// Two foreign connectors, each a folder with a manifest and an executable, beside those of
// the year.
const (
	paperbox = "paperbox" // is refreshed by hand
	harbour  = "harbour"  // has lost a stream for good
)

// ProgramVariable holds the path of this program, which they start: they reach nothing that
// they do not declare.
const ProgramVariable = "DEMO_PROGRAM"

// foreign are the names of all that are played by this program.
func foreign() []string {
	names := []string{paperbox, harbour}
	for _, c := range chronicles {
		names = append(names, c.Name)
	}
	return names
}

// install puts them into a connectors folder. Their executable starts this program.
func install(dir string) error {
	for _, name := range foreign() {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		body, err := manifests.ReadFile("sources/" + name + ".json")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, "manifest.json"), body, 0o600); err != nil {
			return err
		}
		script := "#!/bin/sh\nexec \"$" + ProgramVariable + "\" demo source " + name + "\n"
		if err := os.WriteFile(filepath.Join(folder, "connector"), []byte(script), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Speak plays one of the connectors: it waits for START, sends all of its data, and ends.
func Speak(name string, in io.Reader, out io.Writer) error {
	if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
		return fmt.Errorf("read the start: %w", err)
	}
	s := demoConnector{out: out}
	switch name {
	case paperbox:
		for i, subject := range []string{"Invoice for the garden shed", "Invitation to the boat race", "Your library card",
			"Minutes of the choir", "A postcard from Ida"} {
			at := time.Date(2026, 2, 3+7*i, 9, 30, 0, 0, time.UTC)
			s.record("letters", fmt.Sprintf("letter-%d", i+1), at, map[string]any{
				"sender":      []string{"Nadia Ferrante", "Rowing Club Mole", "Town Library", "Choir of St Ives", "Ida Lund"}[i],
				"subject":     subject,
				"received_at": at.Format(time.RFC3339),
			})
		}
		s.sendMessage(&protocol.State{Stream: "letters", Cursor: []byte(`{"n":5}`)})
	case harbour:
		for i, text := range []string{"Has anybody a spare rudder?", "Moorings are free again from May.",
			"Lost: one blue oar."} {
			at := time.Date(2026, 3, 1+i, 18, 0, 0, 0, time.UTC)
			s.record("posts", fmt.Sprintf("post-%d", i+1), at,
				map[string]any{"text": text, "posted_at": at.Format(time.RFC3339)})
		}
		s.sendMessage(&protocol.State{Stream: "posts", Cursor: []byte(`{"n":3}`)})
		why := "The forum has taken its list of replies away."
		s.sendMessage(&protocol.SkipResult{Stream: "replies", Reason: "endpoint_removed", Message: &why})
	default:
		if sourceData[name] == nil {
			return fmt.Errorf("there is no demonstration source %q", name)
		}
		s.sendRecent(name, time.Now())
	}
	s.sendMessage(&protocol.Done{Status: protocol.DoneSucceeded, RecordsEmitted: s.records})
	return s.err
}

// sendRecent sends the data of a yearly source for today and yesterday. There are no new pictures.
func (s *demoConnector) sendRecent(name string, now time.Time) {
	streams := map[string]bool{}
	for back := 1; back >= 0; back-- {
		for _, x := range dayOf(name, now.AddDate(0, 0, -back)) {
			streams[x.Stream] = true
			if x.Stream != photos && !x.At.After(now) {
				s.record(x.Stream, x.Key, x.At, x.Data)
			}
		}
	}
	for _, stream := range slices.Sorted(maps.Keys(streams)) {
		s.sendMessage(&protocol.State{Stream: stream,
			Cursor: fmt.Appendf(nil, `{"until":%q}`, now.UTC().Format(time.RFC3339))})
	}
}

// demoConnector writes messages until one fails.
type demoConnector struct {
	out     io.Writer
	records int64
	err     error
}

func (s *demoConnector) sendMessage(m protocol.Message) {
	if s.err != nil {
		return
	}
	var line []byte
	if line, s.err = protocol.AppendLine(nil, m); s.err == nil {
		_, s.err = s.out.Write(line)
	}
}

func (s *demoConnector) record(stream, key string, at time.Time, data map[string]any) {
	data["id"] = key
	body, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		s.err = err
		return
	}
	s.records++
	s.sendMessage(&protocol.Record{Stream: stream, Key: key, Data: body, EmittedAt: at.Format(time.RFC3339)})
}
