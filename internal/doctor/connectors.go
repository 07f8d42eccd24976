package doctor

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// connectors looks whether each one that is installed can be started.
func (x *checkup) connectors(ctx context.Context) {
	all, err := x.Connectors.List(ctx)
	if err != nil {
		x.reportFailure(CheckConnectors, "the installed connectors cannot be listed: "+errorLine(err),
			"Install pdpp-connectors beside pdpp, or name it with PDPP_CONNECTORS_BIN.")
		return
	}
	if len(all) == 0 {
		x.reportFailure(CheckConnectors, "no connector is installed",
			"Install pdpp-connectors beside pdpp, or name it with PDPP_CONNECTORS_BIN.")
		return
	}
	sound := true
	for _, e := range all {
		switch {
		case e.Err != nil:
			sound = false
			x.reportFailure(CheckConnectors, errorLine(e.Err), "Correct or remove the connector "+e.Name+".")
		case e.Shadowed && e.Dir == "": // a built-in connector that the owner replaced
		case e.Shadowed:
			x.reportWarning(CheckConnectors, e.Problem(), "Correct or remove the folder "+filepath.Base(e.Dir)+".")
		default:
			x.installed[e.Name] = e.Connector
			if lack := e.Connector.Unstartable(); lack != nil {
				sound = false
				x.reportFailure(CheckConnectors, lack.Error(), lack.Next)
			}
			x.checkTools(e.Connector)
		}
	}
	if sound {
		x.reportGood(CheckConnectors, formatCount(len(x.installed), "connector is", "connectors are")+" installed and valid")
	}
}

// checkTools looks whether the programs are there that a connector calls.
func (x *checkup) checkTools(c catalog.Connector) {
	if c.Manifest.RuntimeRequirements == nil {
		return
	}
	for _, t := range c.Manifest.RuntimeRequirements.ExternalTools {
		program := t.Detect.Executable
		if other, _ := x.Lookup(t.Detect.ExecutableEnvOverride); t.Detect.ExecutableEnvOverride != "" && other != "" {
			program = other
		}
		if _, err := x.LookPath(program); err == nil {
			continue
		}
		next := "Install " + t.Name + "."
		if t.InstallHint != "" {
			next = text.Cut(text.Line(t.InstallHint), maxHintLength)
		}
		x.reportWarning(CheckConnectors, fmt.Sprintf("the connector %s calls %s, and there is none on this machine", c.Name,
			program),
			next)
	}
}

// maxHintLength bounds the installation hint of a connector's author.
const maxHintLength = 300

// checkConfinement checks whether the system can confine connectors to their files.
func (x *checkup) checkConfinement(ctx context.Context) {
	if ok, reason := x.Confined(); !ok {
		x.reportWarning(CheckConfinement, "connectors are not kept from your other files: "+reason,
			"Run PDPP on Linux 5.13 or newer with Landlock, or as a user of its own that may read nothing else.")
		return
	}
	x.reportGood(CheckConfinement, "connectors read their own folder and what they declare, and no other file of yours; "+
		"those of PDPP's own protocol reach every address that this machine reaches")
	x.checkNetwork(ctx)
}

// checkNetwork looks whether the proxy is the only way out for the programs of other protocols that are installed.
func (x *checkup) checkNetwork(ctx context.Context) {
	wrapped, before := 0, len(x.findings)
	for _, name := range slices.Sorted(maps.Keys(x.installed)) {
		if x.installed[name].Starts == "" {
			continue
		}
		wrapped++
		if words, held := x.installed[name].Network(ctx); !held {
			x.reportWarning(CheckConfinement, "what the connector "+name+" reaches over the network: "+words,
				"Let programs of this user make network namespaces (sysctl user.max_user_namespaces, "+
					"kernel.apparmor_restrict_unprivileged_userns, or the seccomp profile of a container), "+
					"or run only programs that you trust.")
		}
	}
	if wrapped > 0 && len(x.findings) == before {
		x.reportGood(CheckConfinement, formatCount(wrapped, "wrapped program has",
			"wrapped programs have")+" no way to the network but the proxy")
	}
}

// checkNeeds looks whether each connection has what its connector declares.
func (x *checkup) checkNeeds(ctx context.Context) {
	looked, before := 0, len(x.findings)
	for _, c := range x.connections {
		if c.Status == store.ConnectionRevoked || c.Status == store.ConnectionDraft {
			continue
		}
		looked++
		x.connection(ctx, c)
	}
	if len(x.findings) == before {
		x.reportGood(CheckConnections, formatCount(looked, "connection has what it needs", "connections have what they need"))
	}
}

func (x *checkup) connection(ctx context.Context, c store.Connection) {
	connector, ok := x.installed[c.ConnectorID]
	if !ok {
		x.reportFailure(CheckConnections, fmt.Sprintf("the connector %s of connection %s is not usable here", c.ConnectorID,
			c.ID),
			"Install the connector "+c.ConnectorID+" on this machine.")
		return
	}
	if c.SourceKind == store.SourceLocalDevice {
		return // what it needs is on the device
	}
	stored, usable := x.storedVariables(ctx, c)
	if !usable {
		return
	}
	for _, lack := range connector.Lacks(c.ID, x.Lookup) {
		if lack.Need != catalog.NeedInterpreter && !stored[lack.Name] { // reported for the connector already
			x.reportFailure(CheckConnections, fmt.Sprintf("connection %s: %s", c.ID, lack), lack.Next)
		}
	}
	for _, names := range requiredCredentials(connector.Manifest) {
		has := func(name string) bool {
			value, _ := x.Lookup(name)
			return value != "" || stored[name]
		}
		if !slices.ContainsFunc(names, has) {
			x.reportFailure(CheckConnections, fmt.Sprintf("connection %s needs %s", c.ID, names[0]),
				fmt.Sprintf("Store it: pdpp credential set %s. Or set %s, or %s_FILE to a file that holds it, for the program "+
					"that collects.", c.ID, names[0], names[0]))
		}
	}
}

// requiredCredentials lists what a run cannot sign in without; of each, any one of the names
// will do.
func requiredCredentials(m *manifest.Manifest) (all [][]string) {
	if rr := m.RuntimeRequirements; rr != nil {
		for _, v := range rr.EnvironmentVariables {
			if v.Required && v.Secret {
				all = append(all, []string{v.Name})
			}
		}
	}
	if m.Setup != nil && m.Setup.CredentialCapture != nil {
		for _, f := range m.Setup.CredentialCapture.Fields {
			if f.Required && m.Setup.CredentialCapture.IsRequired() {
				all = append(all, f.Env)
			}
		}
	}
	// A variable may be named twice, as itself and as part of the credential.
	var distinct [][]string
	for _, names := range all {
		if !slices.ContainsFunc(distinct, func(d []string) bool { return slices.Equal(d, names) }) {
			distinct = append(distinct, names)
		}
	}
	return distinct
}
