package collector

import (
	"testing"
	"time"
)

// TestTokenIsExchanged exchanges an old token for all sources of the device. The old one is
// dead once the new one was used.
func TestTokenIsExchanged(t *testing.T) {
	b := newBed(t)
	b.capable = true
	b.write(t, days(1, 3)...)
	second := b.profile
	second.SourceInstanceID, second.Queue, second.TokenSince = "dsrc_attic_2", "", b.now
	b.profile.TokenSince = b.now
	for _, p := range []Profile{b.profile, second} {
		if _, err := WriteProfile(b.dirs, p, true); err != nil {
			t.Fatal(err)
		}
	}
	b.mustRun(t)
	if b.newToken != secret {
		t.Fatal("a young token was exchanged")
	}
	b.now = b.now.Add(31 * 24 * time.Hour)
	b.mustRun(t)
	for _, id := range []string{source, "dsrc_attic_2"} {
		if p, err := Find(b.dirs, id); err != nil || p.Token.reveal() != b.newToken || b.newToken == secret {
			t.Errorf("%s: %v", id, err)
		}
	}
	b.write(t, days(1, 6)...)
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 6)...)
	if b.token == secret {
		t.Error("the new token was not used")
	}
}

func TestInstallationHasOneID(t *testing.T) {
	dirs := Dirs{State: t.TempDir()}
	first, err := Installation(dirs)
	again, err2 := Installation(dirs)
	if err != nil || err2 != nil || first == "" || first != again {
		t.Errorf("%q, %q, %v, %v", first, again, err, err2)
	}
}

// TestTokenOfAKilledExchange holds that a profile which did not get the new token before
// the exchange was killed goes on with it all the same.
func TestTokenOfAKilledExchange(t *testing.T) {
	b := newBed(t)
	second, other := b.profile, b.profile
	second.SourceInstanceID, second.Queue, second.TokenSince, second.Token = "dsrc_attic_2", "", b.now, NewToken("ldt_the_new_one_of_this_device")
	other.SourceInstanceID, other.Queue, other.TokenSince, other.DeviceID, other.Token = "dsrc_attic_3", "", b.now.Add(time.Hour), "dexp_another", NewToken("ldt_the_one_of_another_device")
	for _, p := range []Profile{second, other} {
		if _, err := WriteProfile(b.dirs, p, false); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Find(b.dirs, source)
	if err != nil || got.Token.reveal() != second.Token.reveal() || !got.TokenSince.Equal(b.now) {
		t.Errorf("the profile goes on with the token of %s, %v", got.TokenSince, err)
	}
}
