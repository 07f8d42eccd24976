package collector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Enrolment is how this host becomes a device of a server, or gets another source there.
type Enrolment struct {
	BaseURL        string
	Code           string
	Label          string // what the owner sees the device called
	AllowPlainHTTP bool
	AgentVersion   string
	HTTP           *http.Client
}

// Enrol spends a code and writes the profile. A host that is a device of this server
// already stays the same one.
func Enrol(ctx context.Context, dirs Dirs, e Enrolment, now time.Time) (Profile, error) {
	e.BaseURL = strings.TrimRight(e.BaseURL, "/")
	if err := checkAddress(e.BaseURL, e.AllowPlainHTTP); err != nil {
		return Profile{}, err
	}
	if !strings.HasPrefix(e.Code, wire.CodePrefix) {
		return Profile{}, operatorFault("code_invalid", "Copy the whole command that the server shows.",
			"this is no code of a server: it does not begin with %s", wire.CodePrefix)
	}
	found, _, err := Profiles(dirs)
	if err != nil {
		return Profile{}, err
	}
	var known *Profile
	for i := range found {
		if found[i].BaseURL == e.BaseURL {
			known = &found[i]
		}
	}
	message := wire.Enrollment{Code: e.Code, AgentVersion: e.AgentVersion, DeviceLabel: e.Label}
	client := &wire.Client{BaseURL: e.BaseURL, HTTP: e.HTTP}
	if known != nil {
		client.Token = known.Token.reveal()
	}
	answer, err := client.Enroll(ctx, message)
	var refusal *wire.Error
	// it was revoked
	if errors.As(err, &refusal) && refusal.Ours && refusal.Condition() == wire.DeviceUnknown && known != nil {
		known, client.Token = nil, ""
		answer, err = client.Enroll(ctx, message)
	}
	if err != nil {
		return Profile{}, notEnrolled(err)
	}
	p := Profile{BaseURL: e.BaseURL, DeviceID: answer.DeviceID, Token: WrapToken(answer.DeviceToken),
		SourceInstanceID: answer.SourceInstanceID,
		ConnectorID:      answer.ConnectorID, AllowPlainHTTP: e.AllowPlainHTTP, Binding: answer.LocalBindingName,
		TokenSince: now.UTC()}
	if answer.DeviceToken == "" && known != nil {
		p.Token, p.TokenSince = known.Token, known.TokenSince
	}
	if p, err = WriteProfile(dirs, p, true); err != nil {
		return Profile{}, err
	}
	// The source that this one takes the place of is over.
	for _, old := range found {
		if old.BaseURL == p.BaseURL && old.ConnectorID == p.ConnectorID && old.Binding == p.Binding &&
			old.SourceInstanceID != p.SourceInstanceID && old.Binding != "" {
			if err := os.Remove(old.Path); err != nil {
				return Profile{}, fmt.Errorf("remove the profile before this one: %w", err)
			}
		}
	}
	return p, nil
}

// notEnrolled translates a refused enrolment into an error that names the cause and the next step.
func notEnrolled(err error) error {
	var refusal *wire.Error
	if !errors.As(err, &refusal) {
		return err
	}
	const again = "Make a new code: add the device again on the server's page, and paste the command that it shows."
	mistake := func(code, next, message string) error {
		return &usererr.Error{Code: code, Message: message, Next: next}
	}
	switch refusal.Code {
	case wire.CodeEnrollmentExpired:
		return mistake(refusal.Code, again, "this code has expired")
	case wire.CodeEnrollmentUsed:
		return mistake(refusal.Code, again, "this code was used or cancelled before")
	case wire.CodeEnrollmentInvalid:
		return mistake(refusal.Code, again, "the server knows no such code")
	case wire.CodeProtocolMismatch:
		return mistake(wire.UpgradeNeeded, "Install the version of this program that belongs to the server.",
			"the server and this program do not speak the same version")
	}
	if refusal.Action() == wire.PutAside {
		return mistake(refusal.Code, again, refusal.Error())
	}
	return mistake(wire.ServerUnreachable,
		"Check the address, that the server runs, and that this host can reach it; the code stays good until it expires.",
		"the server could not be asked: "+refusal.Error())
}

// tokenLife is how old a token becomes.
const tokenLife = 30 * 24 * time.Hour

// rotate exchanges a token that is old. The old one lives until the new one is used, so
// that the new one is first kept in every profile of the device.
func (p *pass) rotate(ctx context.Context) error {
	own := p.c.Profile
	if age := p.now().Sub(own.TokenSince); own.Path == "" || own.TokenSince.IsZero() || age < tokenLife ||
		!p.can(wire.CanRotateToken) {
		return nil
	}
	answer, err := p.client.RotateToken(ctx)
	if err != nil || !WrapToken(answer.DeviceToken).plausible() {
		p.refused(err)
		return nil // the next pass asks again
	}
	dirs := p.c.Dirs
	found, _, err := Profiles(dirs)
	if err != nil {
		return err
	}
	for _, other := range found {
		if other.BaseURL != own.BaseURL || other.DeviceID != own.DeviceID {
			continue
		}
		other.Token, other.TokenSince = WrapToken(answer.DeviceToken), p.now().UTC()
		if _, err := WriteProfile(dirs, other, true); err != nil {
			return err
		}
	}
	return nil // the next pass reads the profile
}

// Farewell is what Leave did.
type Farewell struct {
	DeviceID string   `json:"device_id"`
	Removed  []string `json:"removed"`
	Kept     []string `json:"kept_queues,omitempty"` // with uploads that the server has not got
}

// Leave ends the device of a profile: on the server first, unless only this host is meant,
// then here, with every profile of it. A queue in which something waits is kept unless it
// is to be discarded.
func (c *Collector) Leave(ctx context.Context, localOnly, discard bool) (Farewell, error) {
	left := Farewell{DeviceID: c.Profile.DeviceID}
	if !localOnly {
		_, err := c.client().SelfRevoke(ctx)
		var refusal *wire.Error
		if errors.As(err, &refusal) && !(refusal.Ours && refusal.Condition() == wire.DeviceUnknown) {
			return left, &usererr.Error{Code: wire.ServerUnreachable,
				Message: "the server could not be told: " + refusal.Error(),
				Next:    "Try again when it can be reached; or give --local-only, and revoke the device on the server's page."}
		}
	}
	found, _, err := Profiles(c.Dirs)
	if err != nil {
		return left, err
	}
	for _, p := range found {
		if p.BaseURL != c.Profile.BaseURL || p.DeviceID != c.Profile.DeviceID {
			continue
		}
		if err := os.Remove(p.Path); err != nil {
			return left, fmt.Errorf("remove the profile: %w", err)
		}
		left.Removed = append(left.Removed, p.Path)
		one := *c
		one.Profile = p
		counts, err := one.Inspect(ctx)
		if waits := err != nil || counts.Outbox.Total > counts.Outbox.Succeeded; waits && !discard {
			left.Kept = append(left.Kept, p.Queue)
			continue
		}
		for _, end := range []string{"", "-wal", "-shm", ".lock", ledgerExt} {
			if err := os.Remove(p.Queue + end); err != nil && !errors.Is(err, os.ErrNotExist) {
				return left, fmt.Errorf("remove the queue: %w", err)
			}
		}
		if err := os.RemoveAll(p.Queue + filesExt); err != nil {
			return left, fmt.Errorf("remove the queue: %w", err)
		}
	}
	return left, nil
}

// installationFile is the file that holds the installation's id. The id distinguishes installations
// that share a token.
const installationFile = "installation"

// Installation is this one's id, made when it is first asked for.
func Installation(dirs Dirs) (string, error) {
	path := dirs.State + string(os.PathSeparator) + installationFile
	body, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(body)); err == nil && plainID.MatchString(id) {
		return id, nil
	}
	if err := os.MkdirAll(dirs.State, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the state: %w", err)
	}
	id := "inst_" + randomText()
	if err := writeFile(path, []byte(id+"\n")); err != nil {
		return "", fmt.Errorf("keep the installation's id: %w", err)
	}
	return id, nil
}
