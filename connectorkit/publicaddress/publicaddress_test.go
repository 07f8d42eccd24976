package publicaddress

import (
	"net/netip"
	"testing"
)

func TestIsPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "64:ff9b::5db8:d822": true, "::ffff:93.184.216.34": true,
		"127.0.0.1": false, "::1": false, "0.0.0.0": false, "::": false, "0.1.2.3": false, "255.255.255.255": false,
		"10.0.0.7": false, "172.16.0.1": false, "192.168.1.1": false, "fd00::1": false, "100.64.0.1": false,
		"169.254.169.254": false, "fe80::1%eth0": false, "224.0.0.1": false, "ff02::1": false, "192.0.0.8": false,
		"198.18.0.1": false, "240.0.0.1": false, "fec0::1": false, "2002:7f00:1::": false, "2001:0:1::": false,
		"::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::a00:7": false,
	} {
		if got := IsPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is public: %v, want %v", text, got, want)
		}
	}
	if IsPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}
