package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/demo"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const demoText = `Starts a server in a throw-away home, with simulated services beside it and six
connections: one that is healthy, one that catches up with a service whose limit
nobody has announced, one whose token ran out, one that is refreshed by hand and has
become stale, one on a device whose uploads are stuck, and one that has lost a stream
for good. Where Chromium is installed a seventh waits for you to sign in on its page.
Eight more hold a year of an invented life: mail, chats, questions to an assistant,
money, a watch, photos, places and a calendar.
It tells the address to open, and the password.

Nothing leaves this machine. Ctrl-C ends it and leaves nothing behind.`

func (a *app) demoCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "demo", Short: "Try everything in a throw-away home", Long: demoText, Args: noArgs,
		Example: "  pdpp demo\n  pdpp demo --listen 127.0.0.1:0        on any free port",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address for HTTP (default "+defaultListen+", or a free port when that is taken)")
	cmd.AddCommand(&cobra.Command{
		Use: "source NAME", Hidden: true, Args: needArgs("the name of a source"),
		RunE: func(_ *cobra.Command, args []string) error { return demo.Speak(args[0], a.env.Stdin, exact(a.out)) },
	})
	return cmd
}

func (a *app) demo(ctx context.Context, listen string) error {
	if err := a.refuseServer(); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "pdpp-demo-")
	if err != nil {
		return fmt.Errorf("make a throw-away home: %w", err)
	}
	defer func() {
		if err := os.RemoveAll(home); err != nil {
			printf(a.errOut, "pdpp: %s could not be removed: %v\n", home, err)
		}
	}()
	_, browser := catalog.Browser(a.env.LookPath)
	world, err := demo.Start(browser)
	if err != nil {
		return err
	}
	defer world.Stop()
	inside := a.inside(home, world.Variables)
	st, err := inside.openStore(ctx, mayCreate)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var hurrying sync.WaitGroup
	defer func() {
		stop()
		hurrying.Wait()
		if err := st.Close(); err != nil {
			printf(a.errOut, "pdpp: close the database: %v\n", err)
		}
	}()
	owner, err := inside.plant(ctx, world, st, home)
	if err != nil {
		return err
	}
	hurrying.Go(func() { demo.Hurry(ctx, owner) })
	f := serveFlags{role: "all", listen: listen, logLevel: "warn", ready: func(url, _ string) {
		inside.tellDemo(url, world)
		hurrying.Go(func() {
			if err := world.OpenDiary(ctx, owner); err != nil {
				printf(a.errOut, "pdpp: %v\n", err)
			}
		})
	}}
	if listen != "" {
		return inside.serve(ctx, f)
	}
	f.listen = defaultListen
	err = inside.serve(ctx, f)
	var refused *fault.Fault
	if errors.As(err, &refused) && errors.Is(err, syscall.EADDRINUSE) {
		f.listen = "127.0.0.1:0"
		return inside.serve(ctx, f)
	}
	return err
}

// inside is the program as it is within the demonstration: what the owner has set
// for their own house does not reach it.
func (a *app) inside(home string, variables map[string]string) *app {
	own := map[string]string{envHome: home, demo.ProgramVariable: a.env.Executable, envPassword: "demo-" + strings.ToLower(rand.Text()[:8])}
	for name, value := range variables {
		own[name] = value
	}
	inside := *a
	inside.home = home
	outer := a.env.Lookup
	inside.env.Lookup = func(name string) (string, bool) {
		if value, ok := own[name]; ok {
			return value, true
		}
		if strings.HasPrefix(name, "PDPP_") && name != envConnectors {
			return "", false
		}
		return outer(name)
	}
	return &inside
}

func (a *app) plant(ctx context.Context, world *demo.World, st store.Store, home string) (api.Owner, error) {
	owner, err := a.localOwner(st)
	if err != nil {
		return nil, err
	}
	connectors, err := a.connectors()
	if err != nil {
		return nil, err
	}
	blobs, err := a.blobs()
	if err != nil {
		return nil, err
	}
	return owner, world.Plant(ctx, demo.Ground{Home: home, Store: st, Owner: owner, Blobs: blobs.Place, Connectors: connectors, Lookup: a.childVariable, Now: a.env.Now})
}

func (a *app) tellDemo(url string, world *demo.World) {
	password, _ := a.env.Lookup(envPassword)
	if a.json {
		told := map[string]any{"ready": true, "url": url, "owner_password": password, "github_token": world.GitHubToken}
		if d := world.Diary; d != nil {
			told["diary_email"], told["diary_password"] = d.Email, d.Password
		}
		writeJSON(a.out, told)
		return
	}
	diary := `  A source that needs a browser is left out, because there is none on this machine:
  sudo apt install chromium
`
	if d := world.Diary; d != nil {
		diary = fmt.Sprintf(`  The Fern diary joins them in a moment. It waits for you to sign in on its own page,
  which the console shows:

  Email     %s
  Password  %s
`, d.Email, d.Password)
	}
	printf(a.out, `
  Open      %s
  Password  %s

  Eight connections hold a year of an invented life, to be looked at under Records.
  Six more to simulated services show how collecting goes. The GitHub one needs you: its
  token ran out. Reconnect it with this one, and watch it turn healthy by itself:

  Token     %s

%s
  Ctrl-C ends the demonstration and leaves nothing behind.

`, url, password, world.GitHubToken, diary)
}
