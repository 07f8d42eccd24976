package browser

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// told is the output of a run.
type told struct {
	records   []string
	questions []*protocol.Interaction
	done      *protocol.Done
	doneAt    time.Time
	stderr    string
	exit      int
}

func (r *told) code() string {
	if r.done == nil || r.done.Error == nil {
		return ""
	}
	return r.done.Error.Code
}

// runOptions shape one run.
type runOptions struct {
	trigger string // empty means manual
	env     map[string]string
	// answer answers a question; nil means that the run may not ask.
	answer func(*protocol.Interaction) protocol.ResponseStatus
}

// play runs the connector as the runner does, in this process.
func play(t testing.TB, c connectorkit.Connector, b protocol.BrowserBinding, o runOptions) *told {
	t.Helper()
	bindings := map[string]jsontext.Value{"network": jsontext.Value("{}")}
	raw, err := json.Marshal(b)
	must(t, err)
	bindings["browser"] = raw
	if o.answer != nil {
		bindings["interactive"] = jsontext.Value("{}")
	}
	start := &protocol.Start{RunID: "r", CollectionMode: protocol.Incremental,
		Scope: protocol.Scope{Streams: []protocol.StreamScope{{Name: "items"}}}, Bindings: bindings,
		DetailGaps: []protocol.GapEntry{}}
	in, toConnector := io.Pipe()
	fromConnector, out := io.Pipe()
	say := func(m protocol.Message) {
		line, err := protocol.AppendLine(nil, m)
		must(t, err)
		_, _ = toConnector.Write(line)
	}
	r := &told{}
	var log safeBuffer
	var heard sync.WaitGroup
	heard.Go(func() {
		lines, dec := protocol.NewLineReader(fromConnector, 0), protocol.NewDecoder(protocol.FromConnector)
		for {
			line, err := lines.Next()
			if err != nil {
				return
			}
			m, err := dec.Decode(bytes.Clone(line))
			if err != nil {
				t.Errorf("the connector said %q: %v", line, err)
				continue
			}
			switch m := m.(type) {
			case *protocol.Record:
				r.records = append(r.records, m.Key)
			case *protocol.Interaction:
				r.questions = append(r.questions, m)
				go say(&protocol.InteractionResponse{RequestID: m.RequestID, Status: o.answer(m)})
			case *protocol.Done:
				r.done, r.doneAt = m, time.Now()
			}
		}
	})
	env := map[string]string{"PDPP_SOURCE_KEY": "of this source", "PDPP_RUN_TRIGGER_KIND": "manual"}
	for name, v := range o.env {
		env[name] = v
	}
	if o.trigger != "" {
		env["PDPP_RUN_TRIGGER_KIND"] = o.trigger
	}
	go say(start)
	r.exit = connectorkit.Run(t.Context(), c, connectorkit.Process{
		Stdin: in, Stdout: out, Stderr: &log, Env: func(name string) string { return env[name] }, Now: time.Now,
	})
	_ = out.Close()
	heard.Wait()
	_ = toConnector.Close()
	r.stderr = log.String()
	return r
}

// safeBuffer takes what several goroutines write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// roomFor returns a binding for a browser that may load the site.
func roomFor(t testing.TB, s *site) protocol.BrowserBinding {
	t.Helper()
	b := room(t)
	b.Hosts, b.Local = s.host()
	return b
}

// typeIn signs the owner in on the page that is shown, as a person would, but without a channel.
func typeIn(ctx context.Context, b *Browser, account string) error {
	t := b.currentShowing().currentTab()
	return t.call(ctx, `account => { document.querySelector("#account").value = account; document.querySelector("#go")`+
		`.click(); }`, nil, account)
}
