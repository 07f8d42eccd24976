package tryout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	generated "github.com/pdpp-go/pdpp/providersim/declarative"
)

// Options describe a trial.
type Options struct {
	// Key is the short name of the source.
	Key string
	// Dir is where the connector's folder is written.
	Dir string
	// Command returns the command that runs the connector of a folder. Nil runs it in this process.
	Command func(dir string) []string
	// Now is the time of the newest records; zero means the time of the call.
	Now time.Time
	// Seed chooses among the accounts that can be invented.
	Seed uint64
	// Progress receives one line for each step; nil discards them.
	Progress func(text string)
	// Patience is how long the connector may be silent. Zero means a minute.
	Patience time.Duration
	// Faults are refusals and damaged answers of the provider.
	Faults []providersim.Fault
}

// Run tries a file. The error means that the file cannot be tried at all.
func Run(ctx context.Context, text []byte, o Options) (*Report, error) {
	if o.Now.IsZero() {
		o.Now = time.Now().UTC()
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	dir := filepath.Join(o.Dir, o.Key)
	d, err := declarative.Wrap(dir, text, describe.Options{Key: o.Key})
	if err != nil {
		return nil, err
	}
	o.Progress("inventing an account")
	a, err := NewAccount(d, o)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	t := &trial{Options: o, d: d, dir: dir, env: a.Env, provider: a.Provider,
		stored: map[string]map[string]jsontext.Value{}}
	return t.report(ctx)
}

// Account is an invented account at a provider that runs on this machine.
type Account struct {
	Provider *generated.Provider
	// Env are the variables that lead the connector to it, invented settings included.
	Env    map[string]string
	server *providersim.Running[*generated.Provider]
}

// NewAccount invents settings for a described file, and starts the provider that is generated from it. The caller
// closes the account.
func NewAccount(d *describe.Description, o Options) (*Account, error) {
	if o.Now.IsZero() {
		o.Now = time.Now().UTC()
	}
	s, err := inventSettings(d, o.Now)
	if err != nil {
		return nil, err
	}
	provider := generated.New(generated.Options{Description: d, Config: s.value(), Now: o.Now, Seed: o.Seed})
	for _, f := range o.Faults {
		if _, err := provider.Gate().Add(f); err != nil {
			return nil, fmt.Errorf("fault %s: %w", f.Kind, err)
		}
	}
	if d.ServerSignIn != nil {
		s.env[d.ServerSignIn.AccessTokenEnv] = provider.IssueToken()
	}
	server, err := providersim.Start(o.Key, provider, "", "")
	if err != nil {
		return nil, fmt.Errorf("start the provider: %w", err)
	}
	prefix := d.Manifest.EnvPrefix()
	s.env[d.AddressVariable()] = server.BaseURL
	// The provider is on this machine and bears any pace.
	s.env[prefix+"_PACING_INITIAL_INTERVAL_MS"], s.env[prefix+"_PACING_MIN_INTERVAL_MS"] = "1", "0.1"
	return &Account{Provider: provider, Env: s.env, server: server}, nil
}

// Close stops the provider.
func (a *Account) Close() { _ = a.server.Close() } // it listens no more, whatever the error

// trial is a file at its provider.
type trial struct {
	Options
	d        *describe.Description
	dir      string
	env      map[string]string
	provider *generated.Provider
	stored   map[string]map[string]jsontext.Value // records by stream and key
	twice    map[string]int                       // records of one run that came again unchanged
	deleted  map[string]int
}

// run makes one run from where the last one ended.
func (t *trial) run(ctx context.Context, last *conformance.Transcript) (*conformance.Transcript, string, error) {
	t.twice, t.deleted = map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	dialogue := &conformance.Dialogue{Manifest: t.d.Manifest, Patience: t.Patience, Start: protocol.Start{
		RunID: "run_try", CollectionMode: protocol.Incremental, State: protocol.Cursors{},
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")}}}
	if dialogue.Patience == 0 {
		dialogue.Patience = time.Minute
	}
	if last != nil {
		dialogue.Start.State, dialogue.Start.CatchUpState = last.State, last.CatchUp
	}
	for _, s := range t.d.Streams {
		dialogue.Start.Scope.Streams = append(dialogue.Start.Scope.Streams, protocol.StreamScope{Name: s.ID})
	}
	count := 0
	dialogue.OnMessage = func(m protocol.Message, _ *conformance.Transcript) bool {
		switch m := m.(type) {
		case *protocol.Record:
			if count++; count%1000 == 0 {
				t.Progress(fmt.Sprintf("%d records", count))
			}
			t.store(m, seen)
		case *protocol.CredentialRequest:
			maps.Copy(t.env, m.Values) // the next run uses what the provider exchanged
		}
		return ctx.Err() != nil
	}
	p, err := t.start(ctx)
	if err != nil {
		return nil, "", err
	}
	transcript, err := dialogue.Hold(p.stdin, p.stdout)
	return transcript, p.end(), err
}

func (t *trial) store(r *protocol.Record, seen map[string]bool) {
	if t.stored[r.Stream] == nil {
		t.stored[r.Stream] = map[string]jsontext.Value{}
	}
	id := r.Stream + "\x00" + r.Key
	if seen[id] {
		t.twice[r.Stream]++
	}
	seen[id] = true
	if r.Op == protocol.OpDelete {
		t.deleted[r.Stream]++
		delete(t.stored[r.Stream], r.Key)
		return
	}
	t.stored[r.Stream][r.Key] = r.Data.Clone()
}

// process is a running connector.
type process struct {
	stdin  io.WriteCloser
	stdout io.Reader
	end    func() string // waits for the end and returns the last lines of its log
}

func (t *trial) start(ctx context.Context) (*process, error) {
	if t.Command == nil {
		return t.startHere(ctx)
	}
	command := t.Command(t.dir)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	work, err := os.MkdirTemp(t.Dir, "run-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the run: %w", err)
	}
	cmd.Dir, cmd.Env = work, append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + work}, t.environment()...)
	var log tail
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the connector: %w", err)
	}
	return &process{stdin: stdin, stdout: stdout, end: func() string {
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait() // DONE has the result
		return log.String()
	}}, nil
}

func (t *trial) environment() []string {
	out := []string{"PDPP_RUN_ID=run_try", "PDPP_CONNECTOR_INSTANCE_ID=try", "PDPP_RUN_TRIGGER_KIND=manual"}
	for name, value := range t.env {
		out = append(out, name+"="+value)
	}
	return out
}

// startHere runs the connector in this process.
func (t *trial) startHere(ctx context.Context) (*process, error) {
	connector, err := declarative.Load(t.dir)
	if err != nil {
		return nil, err
	}
	env := maps.Clone(t.env)
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	var log tail
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		connectorkit.Run(ctx, connector, connectorkit.Process{Stdin: in, Stdout: out, Stderr: &log, Now: time.Now,
			Dir: t.dir, Env: func(name string) string { return env[name] }})
		out.CloseWithError(io.EOF)
		in.CloseWithError(io.ErrClosedPipe)
	}()
	return &process{stdin: stdin, stdout: stdout, end: func() string {
		stdout.CloseWithError(io.ErrClosedPipe)
		<-ended
		cancel()
		return log.String()
	}}, nil
}

// tail keeps the end of a log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-4096):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// equalJSON reports whether two texts are the same value. The order of members does not count.
func equalJSON(a, b []byte) bool {
	one, other := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	if errors.Join(one.Canonicalize(), other.Canonicalize()) != nil {
		return false
	}
	return bytes.Equal(one, other) || sameNumbers(a, b)
}

// sameNumbers compares values with numbers of any size.
func sameNumbers(a, b []byte) bool {
	read := func(raw []byte) any {
		var v any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return nil
		}
		return v
	}
	one, other := read(a), read(b)
	x, errX := json.Marshal(one)
	y, errY := json.Marshal(other)
	return one != nil && errX == nil && errY == nil && bytes.Equal(x, y)
}

func members(raw []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	_ = json.Unmarshal(raw, &out) // what is no object has no members
	return out
}

func union(a, b map[string]json.RawMessage) map[string]bool {
	out := map[string]bool{}
	for name := range a {
		out[name] = true
	}
	for name := range b {
		out[name] = true
	}
	return out
}
