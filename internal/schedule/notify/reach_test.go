package notify

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// names answers every question about a name with one address, over loopback.
func names(t *testing.T, addresses map[string]string) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		buffer := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			ip := netip.MustParseAddr(addresses[q.Name.String()])
			h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}
			switch {
			case q.Type == dnsmessage.TypeA && ip.Is4():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: ip.As4()}})
			case q.Type == dnsmessage.TypeAAAA && ip.Is6():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = server.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// A push never goes to an address at which a cloud hands out credentials, nor from a public
// name into the owner's own network.
func TestForbiddenAddresses(t *testing.T) {
	for host, addresses := range map[string][]string{
		// None of these may be reached, whatever leads there.
		"": {"169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
			"fd00:ec2::254", "fd20:ce::254",
			"100.100.100.200", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255"},
		"hooks.example": {"127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.2", "fd12::1",
			"100.64.0.1", "64:ff9b::7f00:1"},
	} {
		for _, address := range addresses {
			named := host
			if named == "" {
				named = address
			}
			if mayReach(named, netip.MustParseAddr(address)) == nil {
				t.Errorf("%s leads to %s", named, address)
			}
			if host == "" && CheckTarget(store.PushTarget{Kind: store.TargetWebhook, Endpoint: "http://[" +
				strings.ReplaceAll(address, "%", "%25") + "]/x"}) == nil {
				t.Errorf("%s is kept as a target", address)
			}
		}
	}
	for host, address := range map[string]string{
		"hooks.example": "203.0.113.7", "127.0.0.1": "127.0.0.1", "192.168.1.2": "192.168.1.2", "::1": "::1",
		"nas": "10.1.2.3", "ntfy.lan": "192.168.1.2", "Hooks.Home.Arpa.": "fd12::1",
	} {
		if err := mayReach(host, netip.MustParseAddr(address)); err != nil {
			t.Errorf("%s may not lead to %s", host, address)
		}
	}
}

// The address is checked when it is dialled: a public name that resolves to this machine is rejected, a name of a
// private network is allowed.
func TestNamesAreJudgedByWhereTheyLead(t *testing.T) {
	h := newHook(t, nil)
	_, port, err := net.SplitHostPort(h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := &Sender{Resolver: names(t,
		map[string]string{"rebound.example.": "127.0.0.1", "mapped.example.": "::ffff:127.0.0.1", "hooks.lan.": "127.0.0.1"})}
	send := func(kind store.TargetKind, host string) result {
		tg := store.PushTarget{ID: "pt_1", Kind: kind, Endpoint: "http://" + host + ":" + port + "/hook"}
		return s.send(t.Context(), tg, PushMessage{AttentionID: "att_1"}, noon)
	}
	for _, kind := range []store.TargetKind{store.TargetWebhook, store.TargetNtfy} {
		for _, host := range []string{"rebound.example", "mapped.example"} {
			if got := send(kind, host); got.ok || got.word != "forbidden_address" {
				t.Errorf("%s to %s: %+v", kind, host, got)
			}
		}
	}
	if got := h.got(); len(got) > 0 {
		t.Fatalf("%d pushes arrived", len(got))
	}
	for _, host := range []string{"127.0.0.1", "localhost", "hooks.lan"} { // what the owner names as theirs is theirs
		if got := send(store.TargetWebhook, host); !got.ok {
			t.Errorf("%s: %+v", host, got)
		}
	}
}
