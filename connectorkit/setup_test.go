package connectorkit

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

func TestSetupSaysWhatStartSaid(t *testing.T) {
	t.Parallel()
	var bound jsontext.Value
	var has, other bool
	var trigger string
	c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
		bound, has = s.Binding("network")
		_, other = s.Binding("browser")
		trigger = s.Trigger()
		return []Collector{pages("log")}, nil
	})
	succeeded(
		t,
		newVault().run(t, c, options{scope: []protocol.StreamScope{{Name: "log"}},
			env: map[string]string{"PDPP_RUN_TRIGGER_KIND": "scheduled"}}),
	)
	if string(bound) != "{}" || !has || other || trigger != "scheduled" {
		t.Errorf("network %s %t, browser %t, trigger %q", bound, has, other, trigger)
	}
}

// TestEndIsTheConnectorsWord ends a run in Open and within a stream: the code, the
// message, the hint and the other streams are as the connector defines them.
func TestEndIsTheConnectorsWord(t *testing.T) {
	t.Parallel()
	end := EndRun(
		"archive_account_changed",
		"another account is signed in; connect it as a new one",
		protocol.ManualActionRequired,
		true,
	)
	asked := false
	for name, open := range map[string]func(context.Context, *Setup) ([]Collector, error){
		"open": func(context.Context, *Setup) ([]Collector, error) { return nil, end },
		"stream": func(context.Context, *Setup) ([]Collector, error) {
			next := pages("notes")
			next.Page = func(context.Context, Cursor) (Page, error) {
				asked = true
				return Page{}, errors.New("not to be asked")
			}
			return []Collector{failing("log", end), next}, nil
		},
	} {
		r := newVault().run(t, withManifest(t, testManifest, open),
			options{scope: []protocol.StreamScope{{Name: "log"}, {Name: "notes"}}})
		if e := r.done.Error; e == nil || e.Code != "archive_account_changed" || !*e.Retryable ||
			e.RecoveryHint.Action != protocol.ManualActionRequired ||
			!strings.HasPrefix(e.Message, "another account") {
			t.Errorf("%s: ended as %s", name, describe(r))
		}
	}
	if asked {
		t.Error("the run went on after its end")
	}
}

// TestAtEndRunsLastFirst calls what was registered once DONE is written, the last first,
// whether the run succeeds, fails or is cancelled.
func TestAtEndRunsLastFirst(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"succeeds", "fails", "is cancelled", "loses its runner"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var order []string
				out := &lineLog{}
				in, feed := io.Pipe()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
					for _, name := range []string{"first", "second"} {
						s.AtEnd(func(ctx context.Context) {
							if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
								t.Errorf("%s has no time", name)
							}
							if strings.Contains(out.text(), `"DONE"`) {
								name += " after DONE"
							}
							order = append(order, name)
						})
					}
					switch how {
					case "succeeds":
						return []Collector{pages("log", []Record{Upsert(row{ID: "a"})})}, nil
					case "fails":
						return nil, errors.New("no")
					case "is cancelled":
						cancel()
					case "loses its runner":
						feed.Close()
					}
					return []Collector{waiting("log")}, nil
				})
				Run(ctx, c, Process{
					Stdin: io.MultiReader(strings.NewReader(startLine), in), Stdout: out, Stderr: io.Discard,
					Env: func(string) string { return "" }, Now: time.Now,
				})
				feed.Close()
				want := []string{"second after DONE", "first after DONE"}
				if how == "loses its runner" {
					want = []string{"second", "first"}
				}
				if !slices.Equal(order, want) {
					t.Errorf("called %q", order)
				}
			})
		})
	}
}

// TestAtEndIsBounded leaves a function behind that does not keep to its context.
func TestAtEndIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		in, feed := io.Pipe()
		c := withManifest(t, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
			s.AtEnd(func(context.Context) { <-release })
			return []Collector{pages("log")}, nil
		})
		began := time.Now()
		exit := Run(t.Context(), c, Process{
			Stdin: io.MultiReader(strings.NewReader(startLine), in), Stdout: &lineLog{}, Stderr: io.Discard,
			Env: func(string) string { return "" }, Now: time.Now,
		})
		if took := time.Since(began); exit != ExitSucceeded || took != maxExitWait {
			t.Errorf("exit code %d after %s", exit, took)
		}
		close(release)
		feed.Close()
	})
}

// TestSignedOutBrowser asks for a new sign-in where the session is a browser's.
func TestSignedOutBrowser(t *testing.T) {
	t.Parallel()
	r := newVault().run(t, collecting(t, failing("log", Fail(Unauthorized, nil))), options{
		scope: []protocol.StreamScope{{Name: "log"}}, bindings: []string{"browser"},
	})
	if e := r.done.Error; e == nil || e.Code != "archive_session_required" || *e.Retryable ||
		e.RecoveryHint.Action != protocol.RefreshCredentials {
		t.Errorf("ended as %s", describe(r))
	}
}
