package daemon

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

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/demo"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const demoHelp = `Starts a server in a temporary home, with simulated services and six connections: one
is healthy, one is still catching up with a service that does not announce its limit,
one has an expired token, one is refreshed by hand and out of date, one is on a device
with stuck uploads, and one has lost a stream for good. If Chromium is installed, a
seventh waits for you to sign in on its page. Eight more contain a year of an invented
life: mail, chats, questions to an assistant, money, a watch, photos, places and a
calendar. The command prints the address to open and the password.

Nothing leaves this machine. Ctrl-C stops the demo and removes everything.`

// NewDemoCommand returns the command pdpp demo.
func NewDemoCommand(inv *command.Invocation) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "demo", Short: "Try everything in a temporary home", Long: demoHelp, Args: arguments.NoArguments,
		Example: "  pdpp demo\n  pdpp demo --listen 127.0.0.1:0        on any free port",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemonstration(cmd.Context(), inv, listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address for HTTP (default "+command.DefaultListenAddress+
		", or a free port when that is taken)")
	cmd.AddCommand(&cobra.Command{
		Use: "source NAME", Hidden: true, Args: arguments.Required("the name of a source"),
		RunE: func(_ *cobra.Command, args []string) error {
			return demo.Speak(args[0], inv.Env.Stdin, output.ExactWriter(inv.Out))
		},
	})
	return cmd
}

func runDemonstration(ctx context.Context, inv *command.Invocation, listen string) error {
	if err := inv.RefuseServer(); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "pdpp-demo-")
	if err != nil {
		return fmt.Errorf("make a throw-away home: %w", err)
	}
	defer func() {
		if err := os.RemoveAll(home); err != nil {
			output.Printf(inv.ErrOut, "pdpp: %s could not be removed: %v\n", home, err)
		}
	}()
	_, browser := catalog.FindBrowser(inv.Env.LookPath)
	world, err := demo.StartWorld(browser)
	if err != nil {
		return err
	}
	defer world.Stop()
	inside := isolatedInvocation(inv, home, world.Variables)
	st, err := inside.OpenStore(ctx, command.MayCreate)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var hurrying sync.WaitGroup
	defer func() {
		stop()
		hurrying.Wait()
		if err := st.Close(); err != nil {
			output.Printf(inv.ErrOut, "pdpp: close the database: %v\n", err)
		}
	}()
	owner, err := plantDemonstration(ctx, inside, world, st, home)
	if err != nil {
		return err
	}
	hurrying.Go(func() { demo.Hurry(ctx, owner) })
	f := serveFlags{role: "all", listen: listen, logLevel: "warn", onReady: func(url, _ string) {
		printDemonstration(inside, url, world)
		hurrying.Go(func() {
			if err := world.OpenDiary(ctx, owner); err != nil {
				output.Printf(inv.ErrOut, "pdpp: %v\n", err)
			}
		})
	}}
	if listen != "" {
		return runServer(ctx, inside, f)
	}
	f.listen = command.DefaultListenAddress
	err = runServer(ctx, inside, f)
	var refused *usererr.Error
	if errors.As(err, &refused) && errors.Is(err, syscall.EADDRINUSE) {
		f.listen = "127.0.0.1:0"
		return runServer(ctx, inside, f)
	}
	return err
}

// isolatedInvocation returns the invocation for the demonstration. The owner's own configuration does not reach it.
func isolatedInvocation(inv *command.Invocation, home string, variables map[string]string) *command.Invocation {
	own := map[string]string{command.EnvHome: home, demo.ProgramVariable: inv.Env.Executable, envPassword: "demo-" +
		strings.ToLower(rand.Text()[:8])}
	for name, value := range variables {
		own[name] = value
	}
	inside := *inv
	inside.HomeFlag = home
	outer := inv.Env.Lookup
	inside.Env.Lookup = func(name string) (string, bool) {
		if value, ok := own[name]; ok {
			return value, true
		}
		if strings.HasPrefix(name, "PDPP_") && name != command.EnvConnectors {
			return "", false
		}
		return outer(name)
	}
	return &inside
}

func plantDemonstration(ctx context.Context, inv *command.Invocation, world *demo.World, st store.Store,
	home string) (api.Owner, error) {
	owner, err := inv.LocalOwner(st)
	if err != nil {
		return nil, err
	}
	connectors, err := inv.Connectors()
	if err != nil {
		return nil, err
	}
	blobs, err := inv.Blobs()
	if err != nil {
		return nil, err
	}
	return owner, world.Plant(ctx, demo.Ground{Home: home, Store: st, Owner: owner, Blobs: blobs.Place,
		Connectors: connectors, Lookup: inv.ChildVariable, Now: inv.Env.Now})
}

func printDemonstration(inv *command.Invocation, url string, world *demo.World) {
	password, _ := inv.Env.Lookup(envPassword)
	if inv.JSON {
		reports := map[string]any{"ready": true, "url": url, "owner_password": password, "github_token": world.GitHubToken}
		if d := world.Diary; d != nil {
			reports["diary_email"], reports["diary_password"] = d.Email, d.Password
		}
		output.WriteJSON(inv.Out, reports)
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
	output.Printf(inv.Out, `
  Open      %s
  Password  %s

  Eight connections hold a year of an invented life, to be looked at day by day.
  Six more to simulated services show how collecting goes. The GitHub one needs you: its
  token ran out. Reconnect it with this one, and watch it turn healthy by itself:

  Token     %s

%s
  Ctrl-C ends the demonstration and leaves nothing behind.

`, url, password, world.GitHubToken, diary)
}
