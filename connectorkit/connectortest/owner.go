package connectortest

import (
	"context"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/protocol/surface"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// Browse gives the bed's runs the browser of this machine, which may reach the simulated site
// alone.
func (b *Bed) Browse(t *testing.T, site string) {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no Chromium is installed; run make test, which installs it")
	}
	at, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	user, err := browser.UserFor("")
	if err != nil {
		t.Fatal(err)
	}
	m := *b.Target.Connector.Manifest
	m.Browser = &manifest.Browser{Hosts: []string{at.Hostname()}}
	b.Target.Connector.Manifest = &m
	b.Browsers = &browser.Profiles{
		Root: filepath.Join(t.TempDir(), "profiles"), Keeper: b.Store, Key: credential.NewKey(), Program: program, User: user,
		Memory: []string{"/dev/shm"}, Local: []string{at.Host},
	}
}

// Owner is a person who signs in when a run asks: over the surface channel, with keys, as in
// the console.
type Owner struct {
	Site    *signin.Site
	Account signin.Account
	// Asked counts the questions.
	Asked int
}

// Attend lets the owner answer the run that is asked for.
func (o *Owner) Attend(t *testing.T, req launch.Request) launch.Request {
	t.Helper()
	settled := make(chan struct{}, 1)
	req.Ask = func(ctx context.Context, _ string, _ protocol.Interaction) (protocol.InteractionResponse, error) {
		o.Asked++
		select {
		case <-settled:
			return protocol.InteractionResponse{Status: protocol.ResponseSuccess}, nil
		case <-ctx.Done():
			return protocol.InteractionResponse{}, context.Cause(ctx)
		case <-time.After(5 * time.Minute):
			return protocol.InteractionResponse{Status: protocol.ResponseTimeout}, nil
		}
	}
	req.Surface = func(_ string, conn io.ReadWriteCloser) {
		go o.look(t, conn, settled)
	}
	return req
}

// look watches the page and signs in once it is shown.
func (o *Owner) look(t *testing.T, conn io.ReadWriteCloser, settled chan<- struct{}) {
	frames := surface.NewReader(conn)
	begun := false
	for {
		f, err := frames.Next()
		if err != nil {
			return // the run is over
		}
		m, err := surface.Parse(f)
		if err != nil {
			t.Errorf("the surface says %v: %v", f.Kind, err)
			return
		}
		switch m := m.(type) {
		case surface.Ready:
			_ = surface.Send(conn, surface.View{Width: 1000, Height: 700, Scale: 1, Quality: 40})
		case surface.Picture:
			_ = surface.Send(conn, surface.Seen{Seq: m.Seq})
			if !begun {
				begun = true
				go o.signIn(conn)
			}
		case surface.Settled:
			select {
			case settled <- struct{}{}:
			default:
			}
		}
	}
}

// signIn types what the sign-in asks for. The fields have the focus when they are shown. A
// page that took nothing was not there yet: the owner reloads it and tries again.
func (o *Owner) signIn(conn io.Writer) {
	signed := o.Site.State().Count.SignIns
	for range 12 {
		state := o.Site.State()
		code := state.Codes[o.Account.ID]
		switch {
		case state.Count.SignIns > signed:
			return
		case state.Waiting > 0 && code != "":
			o.write(conn, code)
		default:
			o.write(conn, o.Account.Email)
			o.press(conn, "Tab")
			o.write(conn, o.Account.Password)
		}
		o.press(conn, "Enter")
		if !o.moved(state) {
			_ = surface.Send(conn, surface.Input{Kind: surface.InputReload})
		}
		time.Sleep(500 * time.Millisecond) // a person looks at the next page before typing
	}
}

// moved reports whether the sign-in leaves a state within the patience of a person.
func (o *Owner) moved(from signin.State) bool {
	for range 40 {
		if now := o.Site.State(); now.Waiting != from.Waiting || now.Count.SignIns != from.Count.SignIns {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func (o *Owner) write(conn io.Writer, text string) {
	_ = surface.Send(conn, surface.Input{Kind: surface.InputText, Text: text})
}

func (o *Owner) press(conn io.Writer, key string) {
	for _, action := range []string{surface.ActionDown, surface.ActionUp} {
		_ = surface.Send(conn, surface.Input{Kind: surface.InputKey, Action: action, Key: key, Code: key})
	}
}
