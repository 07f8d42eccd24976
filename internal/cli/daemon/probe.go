package daemon

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// probeTimeout is longer than a busy server needs to answer.
const probeTimeout = 5 * time.Second

// probeServer asks the server at the configured address whether it is ready, for the health check of a container, which
// has no other program.
func probeServer(ctx context.Context, inv *command.Invocation, f serveFlags) error {
	listen, _, err := inv.Variable(command.EnvListen)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(cmp.Or(f.listen, listen, command.DefaultListenAddress))
	if err != nil {
		return failure.UsageError("the address to ask is not HOST:PORT", "Correct "+command.EnvListen+" or --listen.")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err == nil {
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return inv.PrintResult(map[string]bool{"ready": true}, "The server works.\n")
		}
	}
	return &failure.Error{Code: "server_not_ready", Exit: failure.ExitFailed, Err: err,
		Message: "the server at " + net.JoinHostPort(host, port) + " does not answer that it works",
		Next:    "Look at its log, and run pdpp doctor on its machine."}
}
