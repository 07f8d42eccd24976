package service

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
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
)

// Devices lists the machines that collect for the owner, with the sources on them.
func (s *Service) Devices(ctx context.Context) ([]api.Device, error) {
	devices, err := s.Store.ListDevices(ctx)
	if err != nil {
		return nil, faults.Error(err, "list the devices")
	}
	sources, err := s.Store.DeviceSources(ctx, "")
	if err != nil {
		return nil, faults.Error(err, "list the sources of devices")
	}
	of := map[string][]api.DeviceSource{}
	for _, src := range sources {
		of[src.DeviceID] = append(of[src.DeviceID], showSource(src))
	}
	out := make([]api.Device, len(devices))
	for i, d := range devices {
		out[i] = api.Device{
			ID: d.ID, DisplayName: d.DisplayName, Status: d.Status, AgentVersion: d.AgentVersion, ProtocolVersion: d.ProtocolVersion,
			LastHeartbeatAt: d.LastHeartbeatAt, LastUsedAt: d.LastUsedAt, LastAddress: d.LastAddress, DoubledAt: d.DoubledAt, CreatedAt: d.CreatedAt, RevokedAt: d.RevokedAt,
			Sources: append([]api.DeviceSource{}, of[d.ID]...),
		}
	}
	return out, nil
}

// showSource tells of a source what it reported. What it did not count in whole, or not
// in a way that can be read, is not told.
func showSource(src store.DeviceSource) api.DeviceSource {
	out := api.DeviceSource{
		ID: src.ID, DeviceID: src.DeviceID, ConnectionID: src.ConnectionID, DisplayName: src.DisplayName, ConnectorID: src.ConnectorID, LocalBindingName: src.LocalBinding,
		Status: src.Status, LastHeartbeatAt: src.LastHeartbeatAt, HeartbeatStatus: src.LastHeartbeatStatus, RecordsPending: src.RecordsPending,
		ClockSkewSeconds: src.ClockSkew, CollectionScope: readScope(src.Scope), CreatedAt: src.CreatedAt, RevokedAt: src.RevokedAt,
	}
	var said struct {
		Kind string `json:"kind"`
	}
	if len(src.LastError) > 0 && json.Unmarshal(src.LastError, &said) == nil {
		out.ErrorKind = said.Kind
	}
	var counted api.DeviceQueue
	if len(src.OutboxDiagnostics) > 0 && json.Unmarshal(src.OutboxDiagnostics, &counted) == nil && min(counted.Pending, counted.Retrying, counted.DeadLetter) >= 0 {
		out.Queue = &counted
	}
	return out
}

func readScope(v jsontext.Value) *api.CollectionScope {
	var scope api.CollectionScope
	if len(v) == 0 || json.Unmarshal(v, &scope) != nil {
		return nil
	}
	return &scope
}

// RenameDevice gives a device another name.
func (s *Service) RenameDevice(ctx context.Context, id, name string) error {
	called, err := displayName(name, "")
	if err != nil {
		return err
	}
	return deviceError(s.Store.RenameDevice(ctx, id, called, s.Now()), "rename the device")
}

// RevokeDevice ends a device, its tokens and its sources.
func (s *Service) RevokeDevice(ctx context.Context, id string) error {
	_, err := s.Store.RevokeDevice(ctx, id, s.Now())
	return deviceError(err, "revoke the device")
}

func deviceError(err error, doing string) error {
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound("There is no such device.", "Look at the list: pdpp devices, or the page of devices.")
	}
	return faults.Error(err, doing)
}

const (
	codeBytes      = 18
	longestBinding = 64
	mostRoots      = 32
)

var bindingName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// AddDevice makes a code for a source that a computer can collect.
func (s *Service) AddDevice(ctx context.Context, n api.NewDevice) (api.DeviceCode, error) {
	found, err := s.find.Connectors.Find(ctx, n.ConnectorID)
	if err != nil {
		if ctx.Err() != nil {
			return api.DeviceCode{}, ctx.Err()
		}
		e := faults.NotInstalled(err)
		e.Param = "connector_id"
		return api.DeviceCode{}, e
	}
	if !declaration.ReadsFiles(found.Manifest) {
		return api.DeviceCode{}, api.Invalid("connector_id", found.Manifest.DisplayName+" needs no files of a computer: it is collected by this server.",
			"Add it as a connection.")
	}
	lasts := cmp.Or(n.ExpiresInSeconds, api.UsualCodeSeconds)
	if lasts < api.LeastCodeSeconds || lasts > api.MostCodeSeconds {
		return api.DeviceCode{}, api.Invalid("expires_in_seconds", fmt.Sprintf("A code lasts from %d seconds to a day.", api.LeastCodeSeconds), "Choose a time in between.")
	}
	scope, err := writeScope(n.CollectionScope)
	if err != nil {
		return api.DeviceCode{}, err
	}
	name, err := displayName(n.DisplayName, found.Manifest.DisplayName)
	if err != nil {
		return api.DeviceCode{}, err
	}
	binding, err := s.binding(ctx, found.Name, n.LocalBindingName)
	if err != nil {
		return api.DeviceCode{}, err
	}
	secret := make([]byte, codeBytes)
	rand.Read(secret) // it does not fail
	code := wire.CodePrefix + base64.RawURLEncoding.EncodeToString(secret)
	hash := sha256.Sum256([]byte(code))
	now := s.Now()
	kept := store.DeviceCode{
		ID: "dcode_" + strings.ToLower(rand.Text()), Hash: hash[:], ConnectorID: found.Name, LocalBinding: binding, DisplayName: name, Status: store.CodePending,
		Scope: scope, CreatedAt: now, ExpiresAt: now.Add(time.Duration(lasts) * time.Second),
	}
	if err := s.Store.CreateDeviceCode(ctx, kept); err != nil {
		return api.DeviceCode{}, faults.Error(err, "keep the code")
	}
	out := showCode(kept, now)
	address, err := s.address(ctx)
	if err != nil {
		return api.DeviceCode{}, err
	}
	out.Code, out.Command = code, setupCommand(address, code)
	return out, nil
}

// AddressSetting is where the server that last began to listen can be reached.
const AddressSetting = "server_address"

// address is where devices reach the server.
func (s *Service) address(ctx context.Context) (string, error) {
	if s.Base != "" {
		return s.Base, nil
	}
	kept, err := s.Store.Setting(ctx, AddressSetting)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", faults.Error(err, "read the server's address")
	}
	return cmp.Or(string(kept), s.Address), nil
}

// setupCommand is what is pasted on the computer. It holds nothing that shells read in
// different ways.
func setupCommand(address, code string) string {
	line := "pdpp-local-collector setup --base-url " + address + " --code " + code
	if at, err := url.Parse(address); err == nil && at.Scheme == "http" && !loopback(at.Hostname()) {
		line += " --allow-plain-http"
	}
	return line
}

func loopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

func writeScope(scope *api.CollectionScope) (jsontext.Value, error) {
	if scope == nil || scope.Since == nil && len(scope.SourceRoots) == 0 {
		return nil, nil
	}
	if len(scope.SourceRoots) > mostRoots || slices.ContainsFunc(scope.SourceRoots, func(root string) bool { return !wire.IsRoot(root) }) {
		return nil, api.Invalid("collection_scope", fmt.Sprintf("A scope names at most %d folders, each from its root on.", mostRoots), "Name folders as /home/ann/notes, ~/notes or C:\\Notes.")
	}
	return json.Marshal(scope)
}

// binding gives the name by which the source is told from others of its connector: the
// given one, or one that is not taken.
func (s *Service) binding(ctx context.Context, connectorID, given string) (string, error) {
	if given != "" {
		if len(given) > longestBinding || !bindingName.MatchString(given) {
			return "", api.Invalid("local_binding_name", fmt.Sprintf("This name has from 1 to %d letters, digits, dots, dashes and underscores.", longestBinding), "Choose another name.")
		}
		return given, nil
	}
	connections, err := s.Store.ListConnections(ctx)
	if err != nil {
		return "", faults.Error(err, "list the connections")
	}
	codes, err := s.Store.DeviceCodes(ctx)
	if err != nil {
		return "", faults.Error(err, "list the codes")
	}
	taken := map[string]bool{}
	for _, c := range connections {
		taken[c.LocalBinding] = taken[c.LocalBinding] || c.ConnectorID == connectorID && c.Status != store.ConnectionRevoked
	}
	for _, c := range codes {
		taken[c.LocalBinding] = taken[c.LocalBinding] || c.ConnectorID == connectorID && c.Status == store.CodePending && s.Now().Before(c.ExpiresAt)
	}
	for n := 1; ; n++ {
		if name := fmt.Sprintf("%s-%d", connectorID, n); !taken[name] {
			return name, nil
		}
	}
}

// DeviceCodes lists the codes that are not forgotten yet.
func (s *Service) DeviceCodes(ctx context.Context) ([]api.DeviceCode, error) {
	codes, err := s.Store.DeviceCodes(ctx)
	if err != nil {
		return nil, faults.Error(err, "list the codes")
	}
	out := make([]api.DeviceCode, len(codes))
	for i, c := range codes {
		out[i] = showCode(c, s.Now())
		if c.DeviceID == "" {
			continue
		}
		device, err := s.Store.Device(ctx, c.DeviceID)
		if err != nil {
			return nil, faults.Error(err, "find the device of a code")
		}
		source, err := s.Store.DeviceSource(ctx, c.SourceID)
		if err != nil {
			return nil, faults.Error(err, "find the source of a code")
		}
		out[i].DeviceName, out[i].ConnectionID = device.DisplayName, source.ConnectionID
	}
	return out, nil
}

// showCode tells what has become of a code. One whose token was never shown is waited for
// still: the computer can ask again.
func showCode(c store.DeviceCode, now time.Time) api.DeviceCode {
	out := api.DeviceCode{
		Object: wire.ObjectEnrollmentCode, ID: c.ID, ConnectorID: c.ConnectorID, LocalBindingName: c.LocalBinding, DisplayName: c.DisplayName, Status: api.CodeWaiting,
		CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt, CollectionScope: readScope(c.Scope), DeviceID: c.DeviceID,
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

// CancelDeviceCode takes a code back.
func (s *Service) CancelDeviceCode(ctx context.Context, id string) error {
	err := s.Store.CancelDeviceCode(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound("There is no such code, or it was used before.", "Revoke the device instead: pdpp devices revoke, or the page of devices.")
	}
	return faults.Error(err, "cancel the code")
}
