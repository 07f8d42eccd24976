package source

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// resolveTimeout bounds the question which addresses a host has.
	resolveTimeout = 3 * time.Second
	keepAlive      = 30 * time.Second
)

// resolver resolves the names of hosts. Tests replace it.
var resolver = net.DefaultResolver

// ErrNotOwnServer means that the settings lead to a private or unencrypted address, and the owner has not declared that
// the server is their own.
var ErrNotOwnServer = errors.New("the address is in a private network or not encrypted; if the server is yours, " +
	"connect again and tick \"This is my own server\"")

// CheckSettings returns ErrNotOwnServer if the settings lead to an address that only the owner's own server may have.
// env returns the values of the settings.
func CheckSettings(ctx context.Context, d *describe.Description, env func(string) string) error {
	if env(describe.OwnServerVariable(d.Manifest)) == describe.OwnServerYes {
		return nil
	}
	raw, err := configOf(d.Settings, env)
	if err != nil {
		return err
	}
	config, err := expression.ParseJSON(raw)
	if err != nil {
		return err
	}
	hosts, err := d.ResolveHosts(config, true)
	if err != nil {
		return nil // a run knows more, and reports it
	}
	if _, err := d.ResolveHosts(config, false); err != nil || slices.ContainsFunc(hosts, func(host string) bool {
		return isPrivateHost(ctx, host)
	}) {
		return ErrNotOwnServer
	}
	return nil
}

// checkOwnServer checks the hosts of a run, before the first request.
func (p *program) checkOwnServer(s *connectorkit.Setup, state *runState) error {
	if p.isOwnServer(s, state) {
		return nil
	}
	if strings.HasPrefix(state.root, "https:") && !slices.ContainsFunc(state.hosts, func(host string) bool {
		name, _, err := net.SplitHostPort(host)
		if err != nil {
			name = host
		}
		return describe.IsPrivateHost(strings.Trim(name, "[]"))
	}) {
		return nil
	}
	return connectorkit.EndRun("not_own_server", ErrNotOwnServer.Error(), protocol.ManualActionRequired, false)
}

// isOwnServer reports whether private addresses are allowed: by the owner, or by the operator who replaces the host.
func (p *program) isOwnServer(s *connectorkit.Setup, state *runState) bool {
	if state.address != "" {
		return true
	}
	name := describe.OwnServerVariable(p.Manifest)
	return slices.Contains(p.Manifest.EnvNames(), name) && s.Env(name) == describe.OwnServerYes
}

// isPrivateHost reports whether a host has a private address. A name that does not resolve has none.
func isPrivateHost(ctx context.Context, host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	addresses, err := resolver.LookupNetIP(ctx, "ip", strings.Trim(host, "[]"))
	return err == nil && slices.ContainsFunc(addresses, func(a netip.Addr) bool { return !publicaddress.IsPublic(a) })
}

// dialPublic connects only to public addresses, whatever a name resolves to.
func dialPublic(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAlive: keepAlive, Resolver: resolver,
		ControlContext: func(ctx context.Context, network, resolved string, c syscall.RawConn) error {
			if publicaddress.DialControl(ctx, network, resolved, c) != nil {
				return ErrNotOwnServer
			}
			return nil
		}}
	return d.DialContext(ctx, network, address)
}
