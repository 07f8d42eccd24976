package collector

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
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
	second.SourceInstanceID, second.Queue, second.TokenSince, second.Token = "dsrc_attic_2", "", b.now,
		WrapToken("ldt_the_new_one_of_this_device")
	other.SourceInstanceID, other.Queue, other.TokenSince, other.DeviceID, other.Token = "dsrc_attic_3", "",
		b.now.Add(time.Hour), "dexp_another", WrapToken("ldt_the_one_of_another_device")
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

// TestEnrol holds what a code brings into the profile, that a host which is a device already stays the same
// one unless it was revoked, and how codes that do not work are reported.
func TestEnrol(t *testing.T) {
	var tokens []string // what the requests carried
	var refusals []string
	answer := wire.Enrolled{Object: wire.ObjectEnrollment, DeviceID: device, DeviceToken: secret, SourceInstanceID: source,
		ConnectorID: "diary", LocalBindingName: "diary-1"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens = append(tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if len(refusals) > 0 {
			status, code, _ := strings.Cut(refusals[0], " ")
			refusals = refusals[1:]
			n, _ := strconv.Atoi(status)
			_, body := refuse(n, code)
			w.WriteHeader(n)
			_, _ = io.WriteString(w, body)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.MarshalWrite(w, answer)
	}))
	defer s.Close()
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	dirs := Dirs{Profiles: t.TempDir(), State: t.TempDir()}
	enrol := func() (Profile, error) {
		return Enrol(t.Context(), dirs,
			Enrolment{BaseURL: s.URL + "/", Code: wire.CodePrefix + "x", AllowPlainHTTP: true}, now)
	}
	for code, want := range map[string]string{
		"410 " + wire.CodeEnrollmentExpired: "has expired", "400 " + wire.CodeEnrollmentUsed: "was used or cancelled",
		"400 " + wire.CodeEnrollmentInvalid: "knows no such code",
		"409 " + wire.CodeProtocolMismatch:  "do not speak the same version",
		"500 broken":                        "could not be asked",
	} {
		refusals = []string{code}
		if _, err := enrol(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", code, err)
		}
	}
	if _, err := enrol(); err != nil {
		t.Fatal(err)
	}
	p, err := Find(dirs, source)
	if err != nil || p.BaseURL != s.URL || p.DeviceID != device || p.Token.reveal() != secret ||
		p.ConnectorID != "diary" || !p.AllowPlainHTTP || p.Binding != "diary-1" || !p.TokenSince.Equal(now) {
		t.Fatalf("the profile is %+v, %v", p, err)
	}

	tokens, answer.DeviceToken, answer.SourceInstanceID, answer.LocalBindingName = nil, "", "dsrc_attic_2", "diary-2"
	since := now
	now = now.Add(time.Hour)
	if p, err = enrol(); err != nil || p.Token.reveal() != secret || !p.TokenSince.Equal(since) {
		t.Errorf("another source of the device: %+v, %v", p, err)
	}
	refusals = []string{"401 authentication_error"}
	answer.DeviceToken, answer.SourceInstanceID = "ldt_of_the_new_device", "dsrc_attic_3"
	if p, err = enrol(); err != nil || p.Token.reveal() != answer.DeviceToken || !p.TokenSince.Equal(now) {
		t.Errorf("a device that was revoked: %+v, %v", p, err)
	}
	if want := []string{secret, secret, ""}; !slices.Equal(tokens, want) {
		t.Errorf("the requests carried %q, want %q", tokens, want)
	}
	if _, err := Find(dirs, "dsrc_attic_2"); err == nil {
		t.Error("the profile of a source that was replaced is still there")
	}
}

// TestNoPassWithoutHeartbeat holds that a source with an unreadable queue asks for no pass.
func TestNoPassWithoutHeartbeat(t *testing.T) {
	b := newBed(t)
	c := b.collector(t)
	if err := os.MkdirAll(b.dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Profile.Queue, []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if wanted, err := c.Beat(t.Context()); wanted || err == nil {
		t.Errorf("%v, %v", wanted, err)
	}
}

// TestFilesAreBroughtOnce holds that a file is offered once in a pass, and never to a server that takes none.
func TestFilesAreBroughtOnce(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_ = json.MarshalWrite(w, wire.Blob{Object: wire.ObjectBlob, SHA256: "aa", Whole: true})
	}))
	defer s.Close()
	files := []slice.Blob{{SHA256: "aa"}, {SHA256: "aa"}}
	p := &pass{c: &Collector{Profile: Profile{SourceInstanceID: source}}, brought: map[string]bool{},
		client: &wire.Client{BaseURL: s.URL, DeviceID: device}}
	if err := p.bringFiles(t.Context(), files); err != nil || asked != 0 {
		t.Errorf("a server that takes no files was asked %d times, %v", asked, err)
	}
	p.server.Capabilities = []string{wire.CanBlobs}
	if err := p.bringFiles(t.Context(), files); err != nil || asked != 1 {
		t.Errorf("a server that takes files was asked %d times, %v", asked, err)
	}
}
