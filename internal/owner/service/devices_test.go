package service

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/devices"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// enrol uses a code as a device does, and shows its token.
func (b *serviceHarness) enrol(c api.DeviceCode, suffix string) store.DeviceSource {
	b.t.Helper()
	hash := sha256.Sum256([]byte(c.Code))
	done, err := b.Store.EnrolDevice(b.ctx(), store.Enrolment{
		CodeHash: hash[:], DeviceID: "dexp_" + suffix, Label: "Desk " + suffix, SourceID: "dsrc_" + suffix,
		CredentialID: "dcred_" + suffix, TokenHash: []byte(suffix),
		ConnectionName: c.DisplayName, ManifestGeneration: 1,
	}, b.at)
	b.requireNoError(err)
	b.requireNoError(b.Store.UseDeviceCredential(b.ctx(), "dcred_"+suffix, "192.0.2.1", b.at))
	return done.Source
}

func TestAddDevice(t *testing.T) {
	b := newServiceHarness(t)
	for _, step := range []struct {
		name, param string
		n           api.NewDevice
	}{
		{"nothing", "connector_id", api.NewDevice{}},
		{"not installed", "connector_id", api.NewDevice{ConnectorID: "none"}},
		{"no files", "connector_id", api.NewDevice{ConnectorID: "garden"}},
		{"too short", "expires_in_seconds", api.NewDevice{ConnectorID: "letters", ExpiresInSeconds: 59}},
		{"too long", "expires_in_seconds", api.NewDevice{ConnectorID: "letters", ExpiresInSeconds: 86401}},
		{"a name for shells", "local_binding_name", api.NewDevice{ConnectorID: "letters", LocalBindingName: "a; rm"}},
		{"no root", "collection_scope",
			api.NewDevice{ConnectorID: "letters", CollectionScope: &api.CollectionScope{SourceRoots: []string{"notes"}}}},
	} {
		_, err := b.AddDevice(b.ctx(), step.n)
		problem, ok := err.(*api.Error)
		if !ok || problem.Param != step.param {
			t.Errorf("%s: %v", step.name, err)
		}
	}
	codes, err := b.DeviceCodes(b.ctx())
	b.requireNoError(err)
	if len(codes) != 0 {
		t.Fatalf("codes exist: %+v", codes)
	}

	made, err := b.AddDevice(b.ctx(), api.NewDevice{ConnectorID: "attic"})
	b.requireNoError(err)
	if !strings.HasPrefix(made.Code, "lde_") || len(made.Code) != 28 ||
		made.Command != "pdpp-local-collector setup --base-url https://pdpp.lantern.example --code "+made.Code ||
		made.LocalBindingName != "attic-1" || made.DisplayName != "Attic" || made.Status != api.CodeWaiting ||
		!made.ExpiresAt.Equal(b.at.Add(15*time.Minute)) {
		t.Errorf("made %+v", made)
	}
	// A second computer is a second source, unless it is to take over.
	b.at = b.at.Add(time.Second)
	other, err := b.AddDevice(b.ctx(), api.NewDevice{ConnectorID: "attic", DisplayName: "Attic, north",
		ExpiresInSeconds: 60})
	b.requireNoError(err)
	if other.LocalBindingName != "attic-2" {
		t.Errorf("the second is %s", other.LocalBindingName)
	}
	src := b.enrol(made, "1")
	b.at = b.at.Add(time.Minute)
	third, err := b.AddDevice(b.ctx(), api.NewDevice{ConnectorID: "attic"})
	b.requireNoError(err)
	if third.LocalBindingName != "attic-2" { // that code has expired
		t.Errorf("the third is %s", third.LocalBindingName)
	}
	b.requireNoError(b.CancelDeviceCode(b.ctx(), third.ID))
	wantError(t, b.CancelDeviceCode(b.ctx(), made.ID), api.CodeNotFound, "")
	codes, err = b.DeviceCodes(b.ctx())
	b.requireNoError(err)
	var texts []string
	for _, c := range codes {
		texts = append(texts, c.Status+" "+c.DeviceName+" "+c.ConnectionID)
		if c.Code != "" || c.Command != "" {
			t.Errorf("what opens is told again: %+v", c)
		}
	}
	if got := strings.Join(texts, "; "); got != "cancelled  ; expired  ; connected Desk 1 "+src.ConnectionID {
		t.Errorf("codes are %q", got)
	}
	takeover, err := b.AddDevice(b.ctx(), api.NewDevice{ConnectorID: "attic", LocalBindingName: "attic-1"})
	b.requireNoError(err)
	if next := b.enrol(takeover, "2"); next.ConnectionID != src.ConnectionID || next.Generation != 2 {
		t.Errorf("took over %+v", next)
	}
}

// TestDevicesAreSentWhereTheServerListens holds which address the line to paste has: the
// public one, else that of the server that last listened, else what this machine expects.
func TestDevicesAreSentWhereTheServerListens(t *testing.T) {
	b := newServiceHarness(t, func(c *Config) { c.Base, c.Address = "", "http://127.0.0.1:1" })
	line := func() string {
		made, err := b.AddDevice(b.ctx(), api.NewDevice{ConnectorID: "letters"})
		b.requireNoError(err)
		return made.Command
	}
	if got := line(); !strings.Contains(got, " --base-url http://127.0.0.1:1 ") {
		t.Errorf("nobody listens: %s", got)
	}
	b.requireNoError(b.Store.PutSetting(b.ctx(), devices.AddressSetting, []byte("http://127.0.0.1:2"), b.at))
	if got := line(); !strings.Contains(got, " --base-url http://127.0.0.1:2 ") {
		t.Errorf("a server listens: %s", got)
	}
}

func TestPlainAddressNeedsTheOwnersWord(t *testing.T) {
	for base, flag := range map[string]bool{"http://127.0.0.1:7377": false, "http://localhost:7377": false,
		"https://pdpp.example": false, "http://pdpp.example": true, "http://192.168.1.2:7377": true} {
		b := newServiceHarness(t, func(c *Config) { c.Base = base })
		made, err := b.AddDevice(b.ctx(), api.NewDevice{ConnectorID: "letters"})
		b.requireNoError(err)
		if strings.HasSuffix(made.Command, " --allow-plain-http") != flag {
			t.Errorf("%s: %s", base, made.Command)
		}
	}
}

func TestDevicesTellWhatTheyCounted(t *testing.T) {
	b := newServiceHarness(t)
	made, err := b.AddDevice(b.ctx(),
		api.NewDevice{ConnectorID: "letters", CollectionScope: &api.CollectionScope{SourceRoots: []string{"~/letters"}}})
	b.requireNoError(err)
	src := b.enrol(made, "1")
	skew := int64(7)
	for outbox, counted := range map[string]bool{`{"pending":3,"retrying":0,"dead_letter":1,"leased":9}`: true,
		`{"pending":-3}`: false, `"x"`: false, ``: false} {
		src.OutboxDiagnostics, src.LastError, src.ClockSkew, src.LastHeartbeatStatus = []byte(outbox),
			[]byte(`{"kind":"dead_letter_backlog"}`), &skew, "blocked"
		b.requireNoError(b.Store.PutDeviceSource(b.ctx(), src))
		all, err := b.Devices(b.ctx())
		b.requireNoError(err)
		got := all[0].Sources[0]
		if (got.Queue != nil) != counted || counted && got.Queue.DeadLetter != 1 || got.ErrorKind != "dead_letter_backlog" ||
			*got.ClockSkewSeconds != 7 || got.LocalBindingName != "letters-1" {
			t.Errorf("%s: %+v", outbox, got)
		}
	}
	b.requireNoError(b.RenameDevice(b.ctx(), "dexp_1", " Studio "))
	wantError(t, b.RenameDevice(b.ctx(), "dexp_9", "Studio"), api.CodeNotFound, "")
	wantError(t, b.RenameDevice(b.ctx(), "dexp_1", ""), api.CodeInvalid, "display_name")
	b.requireNoError(b.RevokeDevice(b.ctx(), "dexp_1"))
	b.requireNoError(b.RevokeDevice(b.ctx(), "dexp_1"))
	wantError(t, b.RevokeDevice(b.ctx(), "dexp_9"), api.CodeNotFound, "")
	all, err := b.Devices(b.ctx())
	b.requireNoError(err)
	if d := all[0]; d.DisplayName != "Studio" || d.Status != "revoked" || d.Sources[0].Status != "revoked" ||
		d.LastAddress != "192.0.2.1" {
		t.Errorf("revoked: %+v", d)
	}
}
