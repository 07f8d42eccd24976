package foreign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/foreign/governproxy"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// askTimeout bounds one command of a program that is being wrapped.
const askTimeout = 5 * time.Minute

var connectorName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Order contains the parameters of Wrap.
type Order struct {
	Kind TapProtocol
	// Name is the connector's key.
	Name string
	// Dir is the folder to write.
	Dir string
	// Command starts the program.
	Command []string
	// Config is a file with the program's configuration, for its discovery. Its secrets are not copied.
	Config string
	// Hosts are hosts that the program may reach, in addition to those that are seen.
	Hosts []string
	// Paths are files and folders that the program needs to read.
	Paths []string
	// Properties means that the tap gets its catalog with --properties.
	Properties bool
	// Opaque means that its traffic is not inspected.
	Opaque bool
}

// Wrap discovers the streams of a program and writes its connector folder.
func Wrap(ctx context.Context, o Order) (*Adapter, error) {
	w, err := newWrapper(o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	a := &Adapter{Kind: o.Kind, Command: w.command, Paths: requiredPaths(w.command, o.Paths), Opaque: o.Opaque}
	if w.limits.Program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	w.limits.Execute, w.limits.Write = a.Paths, []string{w.dir}
	var offers []streamOffer
	var form jsontext.Value
	if o.Kind == Singer {
		offers, form, err = w.singer(ctx, a)
	} else {
		offers, form, err = w.airbyte(ctx)
	}
	if err != nil {
		return nil, err
	}
	if len(offers) == 0 {
		return nil, errors.New("the program offers no stream; give it the configuration that it needs by --config")
	}
	a.Hosts = unionHosts(o.Hosts, w.proxy.Seen().Hosts)
	settings := settingsOf(form, w.given)
	a.Config, a.Values = assignVariables("PDPP_"+strings.ToUpper(o.Name), settings)
	m := describeManifest(o, a, offers, settings)
	body, err := m.JSON()
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	own, err := json.Marshal(a, encoding, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("write the adapter: %w", err)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	for name, text := range map[string][]byte{ManifestFile: body, AdapterFile: append(own, '\n')} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), text, 0o644); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
	}
	return a, nil
}

// programWrapper runs the discovery commands of a program.
type programWrapper struct {
	o       Order
	dir     string
	command []string
	given   map[string]any // the owner's configuration
	config  string         // its file
	proxy   *governproxy.Proxy
	limits  confine.Limits
}

func newWrapper(o Order) (*programWrapper, error) {
	if o.Kind != Singer && o.Kind != Airbyte {
		return nil, fmt.Errorf("%q is neither singer nor airbyte", o.Kind)
	}
	if !connectorName.MatchString(o.Name) {
		return nil, fmt.Errorf(
			"%q is not a name for a connector; use lower-case letters, digits and underscores, beginning with a letter",
			o.Name,
		)
	}
	if len(o.Command) == 0 {
		return nil, errors.New("no command; write it after --")
	}
	program, err := exec.LookPath(o.Command[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	w := &programWrapper{o: o, command: append([]string{program}, o.Command[1:]...), given: map[string]any{}}
	body := []byte("{}")
	if o.Config != "" {
		if body, err = os.ReadFile(o.Config); err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		if json.Unmarshal(body, &w.given) != nil {
			return nil, errors.New("the configuration is not a JSON object")
		}
	}
	if w.dir, err = os.MkdirTemp("", "pdpp-wrap-"); err != nil {
		return nil, fmt.Errorf("make working directory: %w", err)
	}
	w.config = filepath.Join(w.dir, "config.json")
	if err = os.WriteFile(w.config, body, 0o600); err != nil {
		err = fmt.Errorf("write the configuration: %w", err)
	} else {
		err = w.listen()
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// listen lets the program reach every host, and records the hosts.
func (w *programWrapper) listen() error {
	var mu sync.Mutex
	ways := map[string]*governhttp.Sender{}
	way := func(host string) *governhttp.Sender {
		mu.Lock()
		defer mu.Unlock()
		if ways[host] == nil {
			ways[host] = governhttp.NewSender(
				governor.New(host, func(c *governor.Config) { c.MaxWait = governproxy.Hold }),
				governhttp.SenderOptions{},
			)
		}
		return ways[host]
	}
	proxy, err := governproxy.New(governproxy.Options{Way: way, Blind: w.o.Opaque})
	w.proxy = proxy
	return err
}

func (w *programWrapper) close() {
	if w.proxy != nil {
		_ = w.proxy.Close()
	}
	_ = os.RemoveAll(w.dir) // the rest is in the folder for temporary files
}

// unionHosts returns the entries of both lists without duplicates, in the form in which hosts are compared.
func unionHosts(a, b []string) (out []string) {
	for _, host := range slices.Concat(a, b) {
		if host = strings.ToLower(strings.TrimSpace(host)); host != "" && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out
}

// ask runs the program with arguments, with the limits of a run, and returns its output.
func (w *programWrapper) ask(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	a := Adapter{Command: w.command}
	argv := append(a.command(w.dir), args...)
	var out, output bytes.Buffer
	var cmd *exec.Cmd
	way := &networkRoute{proxy: w.proxy}
	err := w.limits.Start(func() (err error) {
		cmd, err = way.launch(argv, w.dir, func(argv, env []string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Dir, cmd.Env, cmd.WaitDelay = w.dir, append(environment(w.dir), env...), time.Second
			cmd.Stdout, cmd.Stderr = &out, &output
			return cmd
		})
		return err
	})
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		return out.Bytes(), fmt.Errorf("%s %s: %w: %s", filepath.Base(argv[0]), args[0], err, lines[len(lines)-1])
	}
	return out.Bytes(), nil
}

// streamOffer is a stream that a program can provide, independent of the protocol.
type streamOffer struct {
	name      string
	called    []string
	entry     jsontext.Value
	schema    jsontext.Value
	key       []string
	cursor    string
	recurrent bool // it can resume from a state
}

// singer gets a tap's catalog, and its settings if it supports that.
func (w *programWrapper) singer(ctx context.Context, a *Adapter) ([]streamOffer, jsontext.Value, error) {
	help, _ := w.ask(ctx, "--help") // a tap without --help is wrapped too
	a.CatalogFlags = catalogFlags(string(help), w.o.Properties)
	body, err := w.ask(ctx, "--config", w.config, "--discover")
	if err != nil {
		return nil, nil, err
	}
	var found struct {
		Streams []jsontext.Value `json:"streams"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return nil, nil, fmt.Errorf("read what the tap discovered: %w", err)
	}
	var offers []streamOffer
	for _, raw := range found.Streams {
		o, err := singerOffer(raw)
		if err != nil {
			return nil, nil, err
		}
		offers = append(offers, o)
	}
	var about struct {
		Settings jsontext.Value `json:"settings"`
	}
	if body, err := w.ask(ctx, "--about", "--format=json"); err == nil {
		_ = json.Unmarshal(body, &about) // a tap without this has its settings in the configuration
	}
	return offers, about.Settings, nil
}

// catalogFlags returns the flags that pass a tap its catalog. A tap that documents both flags may use either one,
// and reports no error for the wrong one.
func catalogFlags(help string, properties bool) []string {
	switch {
	case properties:
		return []string{"--properties"}
	case !strings.Contains(help, "--properties"):
		return []string{"--catalog"}
	case !strings.Contains(help, "--catalog"):
		return []string{"--properties"}
	}
	return []string{"--catalog", "--properties"}
}

func singerOffer(raw jsontext.Value) (streamOffer, error) {
	var s struct {
		ID          string         `json:"tap_stream_id"`
		Stream      string         `json:"stream"`
		Schema      jsontext.Value `json:"schema"`
		Keys        []string       `json:"key_properties"`
		Replication string         `json:"replication_key"`
		Metadata    []struct {
			Breadcrumb []string `json:"breadcrumb"`
			Metadata   struct {
				Keys        []string `json:"table-key-properties"`
				ViewKeys    []string `json:"view-key-properties"`
				Replication string   `json:"replication-key"`
				ValidKeys   []string `json:"valid-replication-keys"`
			} `json:"metadata"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return streamOffer{}, fmt.Errorf("read a stream of the tap's catalog: %w", err)
	}
	o := streamOffer{
		name:      cmp.Or(s.ID, s.Stream),
		entry:     raw,
		schema:    s.Schema,
		key:       s.Keys,
		cursor:    s.Replication,
		recurrent: true,
	}
	o.called = slices.Compact([]string{o.name, cmp.Or(s.Stream, s.ID)})
	for _, m := range s.Metadata {
		if len(m.Breadcrumb) > 0 {
			continue
		}
		if len(o.key) == 0 {
			o.key = m.Metadata.Keys
		}
		if len(o.key) == 0 {
			o.key = m.Metadata.ViewKeys
		}
		o.cursor = cmp.Or(o.cursor, m.Metadata.Replication)
		if o.cursor == "" && len(m.Metadata.ValidKeys) == 1 {
			o.cursor = m.Metadata.ValidKeys[0]
		}
	}
	return o, nil
}

// airbyte gets a source's form and catalog. It also checks the configuration if there is one, which shows the
// hosts that the source needs.
func (w *programWrapper) airbyte(ctx context.Context) ([]streamOffer, jsontext.Value, error) {
	var form jsontext.Value
	var offers []streamOffer
	messages := func(do func(airbyteMessage) error, args ...string) error {
		body, err := w.ask(ctx, args...)
		lines := protocol.NewLineReader(bytes.NewReader(body), 64<<20)
		for {
			line, end := lines.Next()
			if end != nil {
				return err
			}
			var m airbyteMessage
			if json.Unmarshal(line, &m) != nil {
				continue
			}
			if m.Type == "TRACE" && m.Trace.Type == "ERROR" {
				return fmt.Errorf("%s: %s", args[0], m.Trace.Error.Message)
			}
			if err := do(m); err != nil {
				return err
			}
		}
	}
	err := messages(func(m airbyteMessage) error {
		if m.Type == "SPEC" {
			form = m.Spec.Specification
		}
		return nil
	}, "spec")
	if err == nil && w.o.Config != "" {
		err = messages(func(m airbyteMessage) error {
			if m.Type == "CONNECTION_STATUS" && m.Status.Status != "SUCCEEDED" {
				return fmt.Errorf("the source does not accept the configuration: %s", m.Status.Message)
			}
			return nil
		}, "check", "--config", w.config)
	}
	if err == nil {
		err = messages(func(m airbyteMessage) error {
			if m.Type != "CATALOG" {
				return nil
			}
			for _, raw := range m.Catalog.Streams {
				var s airbyteStream
				if err := json.Unmarshal(raw, &s); err != nil {
					return fmt.Errorf("read a stream of the source's catalog: %w", err)
				}
				offers = append(offers, s.offer(raw))
			}
			return nil
		}, "discover", "--config", w.config)
	}
	return offers, form, err
}

func (s airbyteStream) offer(raw jsontext.Value) streamOffer {
	name := qualifiedName(s.Namespace, s.Name)
	o := streamOffer{
		name:      name,
		called:    []string{name},
		entry:     raw,
		schema:    s.Schema,
		recurrent: slices.Contains(s.SyncModes, "incremental"),
	}
	for _, path := range s.PrimaryKey {
		if len(path) != 1 { // the key is inside an object, which our keys do not support
			o.key = nil
			break
		}
		o.key = append(o.key, path[0])
	}
	if len(s.CursorField) == 1 {
		o.cursor = s.CursorField[0]
	}
	return o
}

// requiredPaths returns what a command needs besides the system's folders: its program, the Python environment that it
// belongs to, and the files among its arguments, which become absolute.
func requiredPaths(command, more []string) []string {
	var out []string
	for i, arg := range command {
		if info, err := os.Stat(arg); err != nil || i > 0 && info.IsDir() {
			continue
		}
		path, err := filepath.Abs(arg)
		if err != nil {
			continue
		}
		command[i] = path
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		root := filepath.Dir(filepath.Dir(real))
		if _, err := os.Stat(filepath.Join(root, "pyvenv.cfg")); err == nil {
			real = root
		}
		system := slices.ContainsFunc(
			[]string{"/usr/", "/bin/", "/sbin/", "/lib/", "/nix/store/", "/gnu/store/"},
			func(root string) bool {
				return strings.HasPrefix(real, root)
			},
		)
		if !system {
			out = append(out, real)
		}
	}
	for _, path := range more {
		if abs, err := filepath.Abs(path); err == nil {
			out = append(out, abs)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
