package connectortest

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/protocol/surface"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// UseBrowser lets the harness's runs use the browser of this machine, which may reach only the simulated
// site.
func (b *Harness) UseBrowser(t *testing.T, site string) {
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

// SimulatedOwner is a person who signs in when a run asks: over the surface channel, with keys, as in
// the console.
type SimulatedOwner struct {
	Site    *signin.Site
	Account signin.Account
	// Asked counts the questions.
	Asked int
}

// AnswerRun lets the owner answer the run that is asked for.
func (o *SimulatedOwner) AnswerRun(t *testing.T, req launch.RunRequest) launch.RunRequest {
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
		go o.watchPage(t, conn, settled)
	}
	return req
}

// watchPage watches the page and signs in once it is shown.
func (o *SimulatedOwner) watchPage(t *testing.T, conn io.ReadWriteCloser, settled chan<- struct{}) {
	frames := surface.NewReader(conn)
	begun := false
	for {
		f, err := frames.Next()
		if err != nil {
			return // the run is over
		}
		m, err := surface.ParseFrame(f)
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
				go o.typeSignIn(conn)
			}
		case surface.Settled:
			select {
			case settled <- struct{}{}:
			default:
			}
		}
	}
}

// typeSignIn types what the sign-in asks for, until it is signed in or the run is over. The fields have the focus when
// they are shown. A page that accepted nothing was not there yet: the owner reloads it and is more patient, because a
// reload also starts a slow page again.
func (o *SimulatedOwner) typeSignIn(conn io.Writer) {
	signed := o.Site.State().Count.SignIns
	for patience := 4 * time.Second; ; {
		state := o.Site.State()
		code := state.Codes[o.Account.ID]
		var err error
		switch {
		case state.Count.SignIns > signed:
			return
		case state.Waiting > 0 && code != "":
			err = o.typeText(conn, code)
		default:
			err = errors.Join(o.typeText(conn, o.Account.Email), o.pressKey(conn, "Tab"),
				o.typeText(conn, o.Account.Password))
		}
		err = errors.Join(err, o.pressKey(conn, "Enter"))
		if !o.stateChanged(state, patience) {
			err = errors.Join(err, surface.Send(conn, surface.Input{Kind: surface.InputReload}))
			patience = min(2*patience, 30*time.Second)
		}
		if err != nil {
			return // the run is over
		}
		time.Sleep(500 * time.Millisecond) // a person looks at the next page before typing
	}
}

// stateChanged reports whether the sign-in leaves a state within the patience of a person.
func (o *SimulatedOwner) stateChanged(from signin.State, patience time.Duration) bool {
	for range patience / (100 * time.Millisecond) {
		if now := o.Site.State(); now.Waiting != from.Waiting || now.Count.SignIns != from.Count.SignIns {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func (o *SimulatedOwner) typeText(conn io.Writer, text string) error {
	return surface.Send(conn, surface.Input{Kind: surface.InputText, Text: text})
}

func (o *SimulatedOwner) pressKey(conn io.Writer, key string) (err error) {
	for _, action := range []string{surface.ActionDown, surface.ActionUp} {
		err = errors.Join(err, surface.Send(conn, surface.Input{Kind: surface.InputKey, Action: action, Key: key, Code: key}))
	}
	return err
}
