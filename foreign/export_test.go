package foreign

import (
	"os"
	"os/exec"

	"github.com/pdpp-go/pdpp/foreign/governproxy"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Launch starts a program as a tap is started, waits for it, and returns what kept it from the network and
// the hosts that it asked the proxy for. The proxy allows none. Started is called with the variables of each attempt.
func Launch(argv []string, started func(env []string)) (by Enforcement, asked []string, err error) {
	dir, err := os.MkdirTemp("", "launch-")
	if err != nil {
		return by, nil, err
	}
	defer os.RemoveAll(dir)
	proxy, err := governproxy.New(governproxy.Options{Way: func(string) *governhttp.Sender { return nil }})
	if err != nil {
		return by, nil, err
	}
	defer proxy.Close()
	r := &networkRoute{proxy: proxy}
	cmd, err := r.launch(argv, dir, func(argv, env []string) *exec.Cmd {
		started(env)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), os.Stdout, os.Stderr
		return cmd
	})
	if err == nil {
		err = cmd.Wait()
	}
	return r.by, proxy.Seen().Elsewhere, err
}
