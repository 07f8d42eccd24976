package imap

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// connectionSecurity is how a connection is encrypted.
type connectionSecurity string

const (
	securityTLS      connectionSecurity = "tls"      // from its beginning
	securityStartTLS connectionSecurity = "starttls" // after the first words
	securityNone     connectionSecurity = "none"     // not at all: on this machine only
)

// providerProfile is where an account's mail is, and the pace of that provider.
type providerProfile struct {
	name     string
	address  string // host and port
	security connectionSecurity
	pace     time.Duration // the shortest interval between commands
}

// defaultPace is the fastest pace for an unknown server. Servers count connections and bytes; commands are many and
// small.
const defaultPace = 5 * time.Millisecond

// knownProviders lists the providers that an address reveals.
var knownProviders = []struct {
	name, address string
	domains       []string
	pace          time.Duration
}{
	{"gmail", "imap.gmail.com:993", []string{"gmail.com", "googlemail.com"}, 50 * time.Millisecond},
	{"fastmail", "imap.fastmail.com:993", []string{"fastmail.com", "fastmail.fm", "messagingengine.com"},
		20 * time.Millisecond},
	{"icloud", "imap.mail.me.com:993", []string{"icloud.com", "me.com", "mac.com"}, 50 * time.Millisecond},
}

// findProfile returns the provider of an account. A server from the owner takes precedence over the address.
func findProfile(user, server, how string) (providerProfile, error) {
	p := providerProfile{name: "other", security: securityTLS, pace: defaultPace}
	_, domain, _ := strings.Cut(strings.ToLower(strings.TrimSpace(user)), "@")
	server = strings.TrimSpace(server)
	for _, k := range knownProviders {
		for _, d := range k.domains {
			if server == "" && d == domain || server != "" && addDefaultPort(server, "993") == k.address {
				p.name, p.address, p.pace = k.name, k.address, k.pace
			}
		}
	}
	switch connectionSecurity(strings.ToLower(strings.TrimSpace(how))) {
	case "", securityTLS:
	case securityStartTLS:
		p.security = securityStartTLS
	case securityNone:
		p.security = securityNone
	default:
		return p, fmt.Errorf("unknown security")
	}
	if server != "" {
		port := "993"
		if p.security != securityTLS {
			port = "143"
		}
		p.address = addDefaultPort(server, port)
	}
	if p.address == "" {
		return p, fmt.Errorf("no server")
	}
	host, _, err := net.SplitHostPort(p.address)
	if err != nil {
		return p, err
	}
	if ip, err := netip.ParseAddr(host); p.security == securityNone &&
		!(err == nil && ip.IsLoopback() || host == "localhost") {
		return p, fmt.Errorf("not encrypted")
	}
	return p, nil
}

func addDefaultPort(server, port string) string {
	if _, _, err := net.SplitHostPort(server); err == nil {
		return server
	}
	return net.JoinHostPort(strings.Trim(server, "[]"), port)
}

// configurePace is the pace that the provider gets.
func (p providerProfile) configurePace(c *governor.Config) {
	c.Discovery, c.Ceiling = 4*p.pace, p.pace
}
