package imap

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// security is how a connection is encrypted.
type security string

const (
	encrypted security = "tls"      // from its beginning
	upgraded  security = "starttls" // after the first words
	open      security = "none"     // not at all: on this machine only
)

// profile is where an account's mail is, and the pace of that provider.
type profile struct {
	name     string
	address  string // host and port
	security security
	pace     time.Duration // the shortest interval between commands
}

// pace is how fast a server of which nothing is known is asked at most. Servers count connections
// and bytes; commands are many and small.
const pace = 5 * time.Millisecond

// known are the providers that an address tells.
var known = []struct {
	name, address string
	domains       []string
	pace          time.Duration
}{
	{"gmail", "imap.gmail.com:993", []string{"gmail.com", "googlemail.com"}, 50 * time.Millisecond},
	{"fastmail", "imap.fastmail.com:993", []string{"fastmail.com", "fastmail.fm", "messagingengine.com"}, 20 * time.Millisecond},
	{"icloud", "imap.mail.me.com:993", []string{"icloud.com", "me.com", "mac.com"}, 50 * time.Millisecond},
}

// profileOf finds the provider of an account. A server that the owner names wins over what the
// address tells.
func profileOf(user, server, how string) (profile, error) {
	p := profile{name: "other", security: encrypted, pace: pace}
	_, domain, _ := strings.Cut(strings.ToLower(strings.TrimSpace(user)), "@")
	server = strings.TrimSpace(server)
	for _, k := range known {
		for _, d := range k.domains {
			if server == "" && d == domain || server != "" && withPort(server, "993") == k.address {
				p.name, p.address, p.pace = k.name, k.address, k.pace
			}
		}
	}
	switch security(strings.ToLower(strings.TrimSpace(how))) {
	case "", encrypted:
	case upgraded:
		p.security = upgraded
	case open:
		p.security = open
	default:
		return p, fmt.Errorf("unknown security")
	}
	if server != "" {
		port := "993"
		if p.security != encrypted {
			port = "143"
		}
		p.address = withPort(server, port)
	}
	if p.address == "" {
		return p, fmt.Errorf("no server")
	}
	host, _, err := net.SplitHostPort(p.address)
	if err != nil {
		return p, err
	}
	if ip, err := netip.ParseAddr(host); p.security == open && !(err == nil && ip.IsLoopback() || host == "localhost") {
		return p, fmt.Errorf("not encrypted")
	}
	return p, nil
}

func withPort(server, port string) string {
	if _, _, err := net.SplitHostPort(server); err == nil {
		return server
	}
	return net.JoinHostPort(strings.Trim(server, "[]"), port)
}

// adjust is the pace that the provider gets.
func (p profile) adjust(c *governor.Config) {
	c.Discovery, c.Ceiling = 4*p.pace, p.pace
}
