// Package devices manages the computers that collect for the owner: their enrollment codes, names, diagnostics
// and the removal of their uploads.
package devices

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/lookup"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Registry manages the owner's devices. It is safe for concurrent use.
type Registry struct {
	store            store.Store
	find             *lookup.Lookup
	evidence         view.EvidenceReader
	baseURL, address string
	now              func() time.Time
}

// Config contains what a Registry depends on. All members but BaseURL and Address must be set.
type Config struct {
	Store    store.Store
	Lookup   *lookup.Lookup
	Evidence view.EvidenceReader
	// BaseURL is the configured address of the server. Without it, devices use the address of the last server
	// that listened, or else Address.
	BaseURL, Address string
	Now              func() time.Time
}

// New returns the devices over one store.
func New(c Config) *Registry {
	return &Registry{store: c.Store, find: c.Lookup, evidence: c.Evidence, baseURL: c.BaseURL, address: c.Address,
		now: c.Now}
}

// Devices lists the owner's computers with their sources.
func (s *Registry) Devices(ctx context.Context) ([]api.Device, error) {
	devices, err := s.store.ListDevices(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the devices")
	}
	sources, err := s.store.DeviceSources(ctx, "")
	if err != nil {
		return nil, faults.OwnerError(err, "list the sources of devices")
	}
	of := map[string][]api.DeviceSource{}
	for _, src := range sources {
		of[src.DeviceID] = append(of[src.DeviceID], deviceSourceView(src))
	}
	out := make([]api.Device, len(devices))
	for i, d := range devices {
		out[i] = api.Device{
			ID: d.ID, DisplayName: d.DisplayName, Status: d.Status, AgentVersion: d.AgentVersion,
			ProtocolVersion: d.ProtocolVersion,
			LastHeartbeatAt: d.LastHeartbeatAt, LastUsedAt: d.LastUsedAt, LastAddress: d.LastAddress, DoubledAt: d.DoubledAt,
			CreatedAt: d.CreatedAt, RevokedAt: d.RevokedAt,
			Sources: append([]api.DeviceSource{}, of[d.ID]...),
		}
	}
	return out, nil
}

// deviceSourceView returns what a source reported. It leaves out counts that are incomplete or cannot be decoded.
func deviceSourceView(src store.DeviceSource) api.DeviceSource {
	out := api.DeviceSource{
		ID: src.ID, DeviceID: src.DeviceID, ConnectionID: src.ConnectionID, DisplayName: src.DisplayName,
		ConnectorID: src.ConnectorID, LocalBindingName: src.LocalBinding,
		Status: src.Status, LastHeartbeatAt: src.LastHeartbeatAt, HeartbeatStatus: src.LastHeartbeatStatus,
		RecordsPending:   src.RecordsPending,
		ClockSkewSeconds: src.ClockSkew, CollectionScope: decodeScope(src.Scope), CreatedAt: src.CreatedAt,
		RevokedAt: src.RevokedAt,
	}
	var reported struct {
		Kind string `json:"kind"`
	}
	if len(src.LastError) > 0 && json.Unmarshal(src.LastError, &reported) == nil {
		out.ErrorKind = reported.Kind
	}
	var counted api.DeviceQueue
	if len(src.OutboxDiagnostics) > 0 && json.Unmarshal(src.OutboxDiagnostics, &counted) == nil &&
		min(counted.Pending, counted.Retrying, counted.DeadLetter) >= 0 {
		out.Queue = &counted
	}
	return out
}

func decodeScope(v jsontext.Value) *api.CollectionScope {
	var scope api.CollectionScope
	if len(v) == 0 || json.Unmarshal(v, &scope) != nil {
		return nil
	}
	return &scope
}

// RenameDevice changes the name of a device.
func (s *Registry) RenameDevice(ctx context.Context, id, name string) error {
	called, err := declaration.DisplayName(name, "")
	if err != nil {
		return err
	}
	return deviceError(s.store.RenameDevice(ctx, id, called, s.now()), "rename the device")
}

// RevokeDevice ends a device, its tokens and its sources.
func (s *Registry) RevokeDevice(ctx context.Context, id string) error {
	_, err := s.store.RevokeDevice(ctx, id, s.now())
	return deviceError(err, "revoke the device")
}

func deviceError(err error, doing string) error {
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound("There is no such device.", "See the list: pdpp devices, or the page of devices.")
	}
	return faults.OwnerError(err, doing)
}

const (
	codeBytes      = 18
	longestBinding = 64
	mostRoots      = 32
)

var bindingName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// AddDevice creates an enrollment code for a source that a computer can collect.
func (s *Registry) AddDevice(ctx context.Context, n api.NewDevice) (api.DeviceCode, error) {
	found, err := s.find.Connectors.Find(ctx, n.ConnectorID)
	if err != nil {
		if ctx.Err() != nil {
			return api.DeviceCode{}, ctx.Err()
		}
		e := faults.ConnectorNotInstalled(err)
		e.Param = "connector_id"
		return api.DeviceCode{}, e
	}
	if !declaration.ReadsFiles(found.Manifest) {
		return api.DeviceCode{}, api.Invalid("connector_id",
			found.Manifest.DisplayName+" needs no files on a computer: this server collects it.",
			"Add it as a connection.")
	}
	lasts := cmp.Or(n.ExpiresInSeconds, api.UsualCodeSeconds)
	if lasts < api.LeastCodeSeconds || lasts > api.MostCodeSeconds {
		return api.DeviceCode{}, api.Invalid("expires_in_seconds",
			fmt.Sprintf("A code lasts from %d seconds to a day.", api.LeastCodeSeconds), "Choose a time in between.")
	}
	scope, err := encodeScope(n.CollectionScope)
	if err != nil {
		return api.DeviceCode{}, err
	}
	name, err := declaration.DisplayName(n.DisplayName, found.Manifest.DisplayName)
	if err != nil {
		return api.DeviceCode{}, err
	}
	binding, err := s.chooseBindingName(ctx, found.Name, n.LocalBindingName)
	if err != nil {
		return api.DeviceCode{}, err
	}
	secret := make([]byte, codeBytes)
	rand.Read(secret) // never fails
	code := wire.CodePrefix + base64.RawURLEncoding.EncodeToString(secret)
	hash := sha256.Sum256([]byte(code))
	now := s.now()
	kept := store.DeviceCode{
		ID: "dcode_" + strings.ToLower(rand.Text()), Hash: hash[:], ConnectorID: found.Name, LocalBinding: binding,
		DisplayName: name, Status: store.CodePending,
		Scope: scope, CreatedAt: now, ExpiresAt: now.Add(time.Duration(lasts) * time.Second),
	}
	if err := s.store.CreateDeviceCode(ctx, kept); err != nil {
		return api.DeviceCode{}, faults.OwnerError(err, "keep the code")
	}
	out := deviceCodeView(kept, now)
	address, err := s.serverAddress(ctx)
	if err != nil {
		return api.DeviceCode{}, err
	}
	out.Code, out.Command = code, setupCommand(address, code)
	return out, nil
}

// AddressSetting is the setting with the address of the server that started last.
const AddressSetting = "server_address"

// serverAddress returns the address at which devices reach the server.
func (s *Registry) serverAddress(ctx context.Context) (string, error) {
	if s.baseURL != "" {
		return s.baseURL, nil
	}
	kept, err := s.store.Setting(ctx, AddressSetting)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", faults.OwnerError(err, "read the server's address")
	}
	return cmp.Or(string(kept), s.address), nil
}

// setupCommand returns the command that the owner pastes on the computer. All shells read it in the same way.
func setupCommand(address, code string) string {
	line := "pdpp-local-collector setup --base-url " + address + " --code " + code
	if at, err := url.Parse(address); err == nil && at.Scheme == "http" && !isLoopbackHost(at.Hostname()) {
		line += " --allow-plain-http"
	}
	return line
}

func isLoopbackHost(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

func encodeScope(scope *api.CollectionScope) (jsontext.Value, error) {
	if scope == nil || scope.Since == nil && len(scope.SourceRoots) == 0 {
		return nil, nil
	}
	if len(scope.SourceRoots) > mostRoots ||
		slices.ContainsFunc(scope.SourceRoots, func(root string) bool { return !wire.IsRoot(root) }) {
		return nil, api.Invalid("collection_scope", fmt.Sprintf("A scope has at most %d folders, each as an absolute path.",
			mostRoots), "Write folders as /home/ann/notes, ~/notes or C:\\Notes.")
	}
	return json.Marshal(scope)
}

// chooseBindingName returns the name that distinguishes the source from others of its connector: the entered name, or
// an unused one.
func (s *Registry) chooseBindingName(ctx context.Context, connectorID, given string) (string, error) {
	if given != "" {
		if len(given) > longestBinding || !bindingName.MatchString(given) {
			return "", api.Invalid("local_binding_name",
				fmt.Sprintf("This name must have 1 to %d letters, digits, dots, dashes and underscores.", longestBinding),
				"Choose another name.")
		}
		return given, nil
	}
	connections, err := s.store.ListConnections(ctx)
	if err != nil {
		return "", faults.OwnerError(err, "list the connections")
	}
	codes, err := s.store.DeviceCodes(ctx)
	if err != nil {
		return "", faults.OwnerError(err, "list the codes")
	}
	taken := map[string]bool{}
	for _, c := range connections {
		taken[c.LocalBinding] = taken[c.LocalBinding] || c.ConnectorID == connectorID && c.Status != store.ConnectionRevoked
	}
	for _, c := range codes {
		taken[c.LocalBinding] = taken[c.LocalBinding] || c.ConnectorID == connectorID && c.Status == store.CodePending &&
			s.now().Before(c.ExpiresAt)
	}
	for n := 1; ; n++ {
		if name := fmt.Sprintf("%s-%d", connectorID, n); !taken[name] {
			return name, nil
		}
	}
}

// DeviceCodes lists the recent enrollment codes.
func (s *Registry) DeviceCodes(ctx context.Context) ([]api.DeviceCode, error) {
	codes, err := s.store.DeviceCodes(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the codes")
	}
	out := make([]api.DeviceCode, len(codes))
	for i, c := range codes {
		out[i] = deviceCodeView(c, s.now())
		if c.DeviceID == "" {
			continue
		}
		device, err := s.store.Device(ctx, c.DeviceID)
		if err != nil {
			return nil, faults.OwnerError(err, "find the device of a code")
		}
		source, err := s.store.DeviceSource(ctx, c.SourceID)
		if err != nil {
			return nil, faults.OwnerError(err, "find the source of a code")
		}
		out[i].DeviceName, out[i].ConnectionID = device.DisplayName, source.ConnectionID
	}
	return out, nil
}

// deviceCodeView returns the state of a code. A code is still waiting if its token was never shown, because the
// computer can ask again.
func deviceCodeView(c store.DeviceCode, now time.Time) api.DeviceCode {
	out := api.DeviceCode{
		Object: wire.ObjectEnrollmentCode, ID: c.ID, ConnectorID: c.ConnectorID, LocalBindingName: c.LocalBinding,
		DisplayName: c.DisplayName, Status: api.CodeWaiting,
		CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt, CollectionScope: decodeScope(c.Scope), DeviceID: c.DeviceID,
	}
	switch {
	case c.SpentAt != nil:
		out.Status = api.CodeConnected
	case c.Status == store.CodeRevoked:
		out.Status = api.CodeCancelled
	case !now.Before(c.ExpiresAt):
		out.Status = api.CodeExpired
	}
	return out
}

// CancelDeviceCode revokes an unused code.
func (s *Registry) CancelDeviceCode(ctx context.Context, id string) error {
	err := s.store.CancelDeviceCode(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound("There is no such code, or it was used before.",
			"Revoke the device instead: pdpp devices revoke, or the page of devices.")
	}
	return faults.OwnerError(err, "cancel the code")
}
