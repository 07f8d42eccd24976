package foreign

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/foreign/governproxy"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Variables, after the connector's prefix, that an adapted connector reads in addition to those of its tap.
const (
	roundVariable = "_CHECKPOINT_INTERVAL_MS"
	hostsVariable = "_HOSTS"
)

// Connector returns the connector of a folder that Wrap wrote.
func Connector(dir string) (connectorkit.Connector, error) {
	m, a, err := Load(dir)
	if err != nil {
		return connectorkit.Connector{}, err
	}
	// Records are not validated here: schemas of taps are often wrong, and no record is dropped for that.
	return connectorkit.Connector{Manifest: m, Open: a.open(m)}, nil
}

func (a *Adapter) open(
	m *manifest.Manifest,
) func(context.Context, *connectorkit.Setup) ([]connectorkit.Collector, error) {
	return func(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
		config, err := a.config(s.Env)
		if err != nil {
			return nil, &connectorkit.Error{Class: connectorkit.Malformed, Err: err, OwnerMessage: err.Error()}
		}
		ways := sendersByHost(s, a.hosts(s.Env(m.EnvPrefix()+hostsVariable)))
		var names []string
		for _, stream := range a.Streams {
			names = append(names, stream.Name)
		}
		return []connectorkit.Collector{
			connectorkit.PushSource{Streams: names, Collect: func(ctx context.Context, f *connectorkit.Push) error {
				dir, err := os.Getwd()
				if err != nil {
					return err
				}
				r, marks := newTapRelay(a, m, f, s.Log, dir)
				if ms, err := strconv.Atoi(s.Env(m.EnvPrefix() + roundVariable)); err == nil && ms > 0 {
					r.every = time.Duration(ms) * time.Millisecond
				}
				way := &networkRoute{}
				way.proxy, err = governproxy.New(governproxy.Options{Way: ways, Blind: a.Opaque, Transport: s.Transport(),
					Place: way.place})
				if err != nil {
					return err
				}
				defer way.proxy.Close()
				return r.runTap(ctx, marks, config, way)
			}},
		}, nil
	}
}

// runTap runs the tap from start to end.
func (r *tapRelay) runTap(ctx context.Context, marks []streamBookmark, config map[string]any, way *networkRoute) error {
	r.traffic = way.traffic
	d := dialectOf(r.a.Kind)
	catalog, err := d.catalog(r.a, r.f.Selected())
	if err != nil {
		return err
	}
	given := encodeJSON(config)
	if err := json.Unmarshal(given, &r.config); err != nil {
		return err
	}
	f, err := writeFiles(r.dir, given, catalog, d.state(marks))
	if err != nil {
		return err
	}
	argv := append(r.a.command(r.dir), d.arguments(r.a, f.config, f.catalog, f.state)...)
	live, stop := context.WithCancel(ctx)
	defer stop()
	t, err := startTap(live, way, argv, r.dir, d.read, r.log)
	if err != nil {
		return &connectorkit.Error{
			Class:        connectorkit.Malformed,
			Err:          err,
			OwnerMessage: "the tap could not be started; its program may be gone or moved: wrap it again",
		}
	}
	way.output.Store(t.out)
	switch way.by.By {
	case ByPort:
		r.log.Warn("the tap can reach other machines at the proxy's port, unseen by the proxy: " + way.by.Reason)
	case ByNothing:
		r.log.Warn("nothing keeps the tap from connecting past the proxy: " + way.by.Reason)
	}
	if err := r.follow(ctx, t.events); err != nil {
		stop()
		t.end()
		return err
	}
	if t.broken != nil {
		stop() // nothing reads its output any more
	}
	code := t.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.checkRewritten(ctx, f.config, given); err != nil {
		return err
	}
	if code != 0 || t.broken != nil || r.trouble != nil {
		return r.endFailed(ctx, t.broken)
	}
	return r.conclude(ctx)
}

// checkRewritten checks whether the tap has changed its own configuration file, which some taps use to store a new
// credential.
func (r *tapRelay) checkRewritten(ctx context.Context, path string, given jsontext.Value) error {
	body, err := os.ReadFile(path)
	if err != nil || bytes.Equal(body, given) {
		return nil // the tap removed the file
	}
	return r.storeRotated(ctx, body)
}

// storeRotated stores the changes of a newer configuration before the run continues.
func (r *tapRelay) storeRotated(ctx context.Context, raw jsontext.Value) error {
	var now map[string]any
	if json.Unmarshal(raw, &now) != nil {
		return nil
	}
	changed := r.a.rotated(r.config, now, r.m.SecretEnv())
	r.config = now
	if len(changed) == 0 {
		return nil
	}
	err := r.f.Rotate(ctx, changed)
	if errors.Is(err, connectorkit.ErrNotStored) {
		return &connectorkit.Error{Class: connectorkit.Unauthorized, Err: err,
			OwnerMessage: "the provider exchanged the credential for another one, which could not be stored; enter it anew"}
	}
	return err
}

// endFailed ends a run after a failure of the tap. Its last state still counts, because it came after the records
// that it covers.
func (r *tapRelay) endFailed(ctx context.Context, broken error) error {
	if err := r.storeRound(ctx, true); err != nil {
		return err
	}
	switch {
	case r.trouble != nil:
		return r.trouble
	case errors.Is(broken, errBroken):
		return &connectorkit.Error{Class: connectorkit.Malformed, Err: broken, OwnerMessage: errBroken.Error()}
	case broken != nil:
		return &connectorkit.Error{Class: connectorkit.Malformed, Err: broken,
			OwnerMessage: "what the tap wrote could not be read"}
	}
	traffic := r.traffic()
	ended := traffic.exitError()
	if ended.Class != connectorkit.Unavailable {
		return ended
	}
	return r.confine(ctx, traffic, ended)
}

// confine fails the streams that the tap was working on when it ended, and declares those that it had not begun.
// Finished streams are judged as after exit code 0. It returns the failure if the tap's output does not show
// where the tap was.
func (r *tapRelay) confine(ctx context.Context, traffic Traffic, ended error) error {
	working, known := r.where.at(r.a.Kind, traffic.Asked)
	if !known {
		return ended
	}
	for _, name := range r.f.Selected() {
		s := r.streams[name]
		own := traffic.at(func(place int64) bool { return working(s, place) })
		var err error
		switch {
		case len(s.visits) == 0:
			text := "the tap ended before it began this stream"
			err = r.f.Skip(ctx, protocol.SkipResult{Stream: name, Reason: protocol.ReasonNotReached, Message: &text,
				RecoveryHint: &protocol.RecoveryHint{Action: protocol.UnknownRecovery}})
		case working(s, math.MaxInt64-1):
			r.f.Fail(name, ended)
		case len(own.Refused) > 0:
			err = r.f.Skip(ctx, r.refusal(s, own))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Adapter) command(dir string) []string {
	out := make([]string, len(a.Command))
	for i, arg := range a.Command {
		out[i] = strings.ReplaceAll(arg, "{dir}", dir)
	}
	return out
}

// environment returns the environment of a tap: the locations of programs and temporary files, and nothing else.
// Its secrets are in its configuration.
func environment(dir string) []string {
	env := []string{"HOME=" + dir, "TMPDIR=" + dir, "PYTHONUNBUFFERED=1", "LANG=C.UTF-8"}
	if path := os.Getenv("PATH"); path != "" {
		env = append(env, "PATH="+path)
	}
	return env
}

// HostsVariable returns the variable that adds to the hosts of a wrapped program.
func HostsVariable(name string) string { return "PDPP_" + strings.ToUpper(name) + hostsVariable }
