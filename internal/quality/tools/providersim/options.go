package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/github"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

type options struct {
	provider         string
	lumen            sample.Config
	github           github.Config
	readyFile        string
	stopOnStdinClose bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("simprovider", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.provider, "provider", "lumen", "which provider: lumen or github")
	fs.StringVar(&o.lumen.Addr, "addr", providersim.FreeLoopback, "loopback `address` of the API; port 0 takes a free one")
	fs.StringVar(&o.lumen.ControlAddr, "control-addr", providersim.FreeLoopback, "loopback `address` of the control port")
	fs.IntVar(&o.lumen.Events, "events", 1000, "how many events the account starts with")
	fs.IntVar(&o.lumen.Notes, "notes", 200, "how many notes the account starts with")
	fs.IntVar(&o.lumen.Threads, "threads", 60, "how many threads the account starts with")
	fs.IntVar(&o.github.Repositories, "repositories", 20, "github: how many repositories the account starts with")
	fs.IntVar(&o.github.Stars, "stars", 150, "github: how many stars the account starts with")
	fs.IntVar(&o.github.Issues, "issues", 200, "github: how many issues the account starts with")
	fs.IntVar(&o.github.Pulls, "pulls", 60, "github: how many pull requests the account starts with")
	fs.IntVar(&o.github.Gists, "gists", 10, "github: how many gists the account starts with")
	fs.IntVar(&o.github.Primary, "primary-limit", 0, "github: requests per hour; 0 is as GitHub has it")
	fs.Uint64Var(&o.lumen.Seed, "seed", 1, "equal seeds give equal data")
	fs.StringVar(&o.lumen.Token, "token", "", "access token; empty derives one from the seed")
	fs.DurationVar(&o.lumen.Latency, "latency", 0, "delay of every answer")
	fs.StringVar(&o.readyFile, "ready-file", "", "`file` to write once both ports answer")
	fs.BoolVar(&o.stopOnStdinClose, "stop-on-stdin-close", false, "stop when standard input ends")
	if err := fs.Parse(args); err != nil {
		return options{}, err
	}
	l, g := o.lumen, &o.github
	g.Addr, g.ControlAddr, g.Events, g.Seed, g.Token, g.Latency = l.Addr, l.ControlAddr, l.Events, l.Seed, l.Token,
		l.Latency
	switch {
	case fs.NArg() > 0:
		return options{}, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case o.provider != "lumen" && o.provider != "github":
		return options{}, fmt.Errorf("unknown provider %q: use lumen or github", o.provider)
	case min(l.Events, l.Notes, l.Threads, g.Repositories, g.Stars, g.Issues, g.Pulls, g.Gists, g.Primary) < 0 ||
		l.Latency < 0:
		return options{}, errors.New("counts and latency must not be negative")
	}
	return o, nil
}

// start serves the chosen provider and returns its token.
func (o options) start() (*providersim.Server, string, error) {
	if o.provider == "github" {
		s, err := github.Start(o.github)
		if err != nil {
			return nil, "", err
		}
		return s.Server, s.Sim.Token(), nil
	}
	s, err := sample.Start(o.lumen)
	if err != nil {
		return nil, "", err
	}
	return s.Server, s.Sim.Token(), nil
}
