package collector

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// The variables of a profile. Others are kept for the connector, which gets
// those that its manifest declares. Of names that begin with PDPP_ only the
// connector's own are among them, so that a slip of the pen is noticed.
const (
	envBaseURL    = "PDPP_REFERENCE_BASE_URL"
	envDeviceID   = "PDPP_LOCAL_DEVICE_ID"
	envToken      = "PDPP_LOCAL_DEVICE_TOKEN"
	envConnection = "PDPP_CONNECTION_ID"
	envSource     = "PDPP_SOURCE_INSTANCE_ID" // an alias of PDPP_CONNECTION_ID
	envConnector  = "PDPP_CONNECTOR_ID"
	envQueue      = "PDPP_COLLECTOR_QUEUE"
	envPlainHTTP  = "PDPP_LOCAL_ALLOW_PLAIN_HTTP" // 1: the token may travel unencrypted
	envTokenSince = "PDPP_LOCAL_DEVICE_TOKEN_SINCE"
	envBinding    = "PDPP_LOCAL_BINDING_NAME"

	ownPrefix  = "PDPP_"
	profileExt = ".env"
)

var ownVariables = []string{envBaseURL, envDeviceID, envToken, envConnection, envSource, envConnector, envQueue,
	envPlainHTTP, envTokenSince, envBinding}

// Profile is the configuration of one enrolled source: its queue, its connector, the server address
// and the device's credentials.
type Profile struct {
	// Path is the profile's file. It is empty if the values come from the environment.
	Path             string
	BaseURL          string
	DeviceID         string
	Token            Token
	SourceInstanceID string
	ConnectorID      string
	Queue            string
	// AllowPlainHTTP lets the token travel unencrypted to a server that is not this machine.
	AllowPlainHTTP bool
	// Binding is what the server calls this source on this device; empty when it was set up
	// by hand.
	Binding string
	// TokenSince is when the token was made; zero when it is not known.
	TokenSince time.Time
	// Variables are for the connector.
	Variables map[string]string
}

var (
	plainID       = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	connectorName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// checkID refuses an id that could be anything but a file's name.
func checkID(id string) error {
	if plainID.MatchString(id) && len(id) <= 200 {
		return nil
	}
	return operatorFault("invalid_source_instance_id", "Copy the id from the command that the server shows.",
		"%q is not a source instance id", id)
}

// readProfile loads one profile file. It rejects a file that other users can read, because the file's
// token allows uploads as this device.
func readProfile(path string, dirs Dirs) (Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return Profile{}, operatorFault("profile_unreadable", "Check the file and its folder.",
			"the profile cannot be read: %v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return Profile{}, operatorFault("profile_unreadable", "Check the file and its folder.",
			"the profile %s is not a file", path)
	}
	if openToOthers(path, info) {
		return Profile{}, operatorFault("profile_permissions", closeToOthers(path, info),
			"the profile %s holds a credential and others can read it (mode %04o)", path, info.Mode().Perm())
	}
	body, err := io.ReadAll(io.LimitReader(f, maxProfileBytes+1))
	if err != nil {
		return Profile{}, operatorFault("profile_unreadable", "Check the file and its folder.",
			"the profile cannot be read: %v", err)
	}
	variables, err := parseEnv(body)
	if err != nil {
		return Profile{}, operatorFault("profile_invalid", "Correct it, or write it again: pdpp-local-collector setup",
			"the profile %s is not usable: %v", path, err)
	}
	p, err := profileOf(variables, dirs)
	if err != nil {
		return Profile{}, operatorFault("profile_invalid", "Correct it, or write it again: pdpp-local-collector setup",
			"the profile %s is not usable: %v", path, err)
	}
	p.Path = path
	return p, nil
}

// profileOf validates the variables of a profile and fills in the default queue.
func profileOf(variables map[string]string, dirs Dirs) (Profile, error) {
	p := Profile{
		BaseURL: strings.TrimRight(variables[envBaseURL], "/"), DeviceID: variables[envDeviceID],
		Token:            WrapToken(variables[envToken]),
		SourceInstanceID: variables[envConnection], ConnectorID: variables[envConnector], Queue: variables[envQueue],
		AllowPlainHTTP: variables[envPlainHTTP] == "1", Binding: variables[envBinding], Variables: map[string]string{},
	}
	p.TokenSince, _ = time.Parse(time.RFC3339, variables[envTokenSince])
	if alias := variables[envSource]; p.SourceInstanceID == "" {
		p.SourceInstanceID = alias
	} else if alias != "" && alias != p.SourceInstanceID {
		return Profile{}, operatorFault("profile_invalid", "", "%s and %s differ", envConnection, envSource)
	}
	for name, value := range variables {
		switch {
		case isOwn(name):
		case strings.HasPrefix(name, ownPrefix) && !strings.HasPrefix(name, ownPrefix+strings.ToUpper(p.ConnectorID)+"_"):
			return Profile{}, operatorFault("profile_invalid", "", "%s is not a variable of a profile", name)
		default:
			p.Variables[name] = value
		}
	}
	if err := p.check(); err != nil {
		return Profile{}, err
	}
	if p.Queue == "" {
		p.Queue = filepath.Join(dirs.State, p.ConnectorID+"-"+p.SourceInstanceID+".sqlite")
	}
	return p, nil
}

func isOwn(name string) bool {
	for _, own := range ownVariables {
		if name == own {
			return true
		}
	}
	return false
}

func (p *Profile) check() error {
	bad := func(name, want string) error {
		return operatorFault("profile_invalid", "", "%s is missing or is not %s", name, want)
	}
	if err := checkAddress(p.BaseURL, p.AllowPlainHTTP); err != nil {
		return err
	}
	switch {
	case !plainID.MatchString(p.DeviceID):
		return bad(envDeviceID, "an id")
	case !p.Token.plausible():
		return bad(envToken, "a credential")
	case checkID(p.SourceInstanceID) != nil:
		return bad(envConnection, "a source instance id")
	case !connectorName.MatchString(p.ConnectorID):
		return bad(envConnector, "a connector's name")
	case p.Queue != "" && !filepath.IsAbs(p.Queue):
		return operatorFault("profile_invalid", "", "%s is not a full path", envQueue)
	}
	return nil
}

// checkAddress rejects an invalid server address, and an address that would send the token
// unencrypted.
func checkAddress(address string, plain bool) error {
	base, err := url.Parse(address)
	switch {
	case err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil ||
		base.RawQuery != "" || base.Fragment != "":
		return operatorFault("profile_invalid", "", "%s is missing or is not %s", envBaseURL, "a plain http or https address")
	case base.Scheme == "http" && !plain && !loopback(base.Hostname()):
		return operatorFault("plain_http",
			"Use the server's https address; or, in a network that you trust, give --allow-plain-http.",
			"%s is not encrypted, and whoever listens could upload as this device", address)
	}
	return nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// variables returns the profile as the variables of its file.
func (p *Profile) variables() map[string]string {
	out := map[string]string{
		envBaseURL: p.BaseURL, envDeviceID: p.DeviceID, envToken: p.Token.reveal(),
		envConnection: p.SourceInstanceID, envConnector: p.ConnectorID, envQueue: p.Queue,
	}
	if p.AllowPlainHTTP {
		out[envPlainHTTP] = "1"
	}
	if p.Binding != "" {
		out[envBinding] = p.Binding
	}
	if !p.TokenSince.IsZero() {
		out[envTokenSince] = p.TokenSince.UTC().Format(time.RFC3339)
	}
	for name, value := range p.Variables {
		out[name] = value
	}
	return out
}

// sourceKey returns the source's own key, for marks that no other party can compute. It is derived
// from ids that readers of records never see, and it survives a token exchange.
func (p *Profile) sourceKey() string {
	sum := sha256.Sum256([]byte("source key\x00" + p.DeviceID + "\x00" + p.SourceInstanceID))
	return hex.EncodeToString(sum[:])
}
