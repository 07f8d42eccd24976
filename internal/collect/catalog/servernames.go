package catalog

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// serverWords begin the names of this program's own variables. A connector chooses its name, and with it the prefix of
// its variables: a connector named backup would own PDPP_BACKUP_PASSPHRASE. So these words are reserved for the
// server.
var serverWords = []string{
	"ANSWER", "AUDIT", "BACKUP", "BASE", "BLOBS", "BROWSER", "BUILD", "CAPTURE", "CHAOS", "COLLECTOR", "CONNECT",
	"CONNECTION", "CONNECTOR", "CONNECTORS", "CREDENTIAL", "DATABASE", "DEVICE", "HOME", "LEASE", "LISTEN",
	"LOCAL", "LOG", "MAX", "METRICS", "NEW", "NOTIFY", "OUTBOX", "OWNER", "PASSKEY", "RECOVERY", "REFERENCE", "RELEASES",
	"RUN", "SEMANTIC", "SERVER", "SESSION", "SLOTS", "SOURCE", "STREAMING", "TEST", "TOKEN", "TRUSTED", "WEB",
}

// systemNames and systemPrefixes are variables by which a process finds other people's secrets,
// or by which its own code is replaced. No data source needs them.
var (
	systemNames = []string{"HOME", "USER", "LOGNAME", "SHELL", "MAIL", "DATABASE_URL", "NODE_OPTIONS", "BASH_ENV",
		"ENV", "IFS", "NOTIFY_SOCKET", "PATH", "TMPDIR"}
	systemPrefixes = []string{"PGPASS", "PGUSER", "PGHOST", "PGPORT", "PGDATABASE", "PGSERVICE", "PGSSL", "OTEL_", "LD_",
		"DYLD_", "SSH_", "GPG_", "DBUS_", "XDG_", "SUDO_", "CREDENTIALS_", "KUBERNETES_", "DOCKER_", "AWS_", "PYTHON",
		"PERL5", "RUBY"}
)

// isServerVariable reports whether a variable, or a file that holds it, is never passed to a connector.
func isServerVariable(name string) bool {
	name = strings.TrimSuffix(strings.ToUpper(name), "_FILE")
	if own, ok := strings.CutPrefix(name, "PDPP_"); ok {
		word, _, _ := strings.Cut(own, "_")
		return slices.Contains(serverWords, word)
	}
	return slices.Contains(systemNames, name) ||
		slices.ContainsFunc(systemPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// foreignApp is the problem of a connector that is not built in and names a variable of this server's, or
// of another program, as its app's registration: the server would send the value to the provider that
// the connector names.
func (c Connector) foreignApp() *manifest.Problem {
	o := c.Manifest.OAuth()
	if o == nil {
		return nil
	}
	for member, name := range map[string]string{"client_id_env": o.ClientIDEnv, "client_secret_env": o.ClientSecretEnv} {
		if name != "" && !c.MayReceive(name) {
			return &manifest.Problem{Path: folder.Manifest + ": setup.oauth." + member, What: "names " + name +
				", which a connector may not have",
				Fix: "name a variable that begins with " + c.Manifest.EnvPrefix() + "_"}
		}
	}
	return nil
}

// withheldCredential is the problem of a connector that needs a variable which it never receives, because the server
// uses names of that form itself. Without the problem its runs would report a missing credential.
func (c Connector) withheldCredential() *manifest.Problem {
	for _, name := range c.Manifest.CredentialEnv() {
		if !c.MayReceive(name) {
			return &manifest.Problem{Path: folder.Manifest, What: "needs " + name + ", a name that the server keeps for itself",
				Fix: "choose another connector_key, or another variable"}
		}
	}
	return nil
}

// MayReceive reports whether the connector may get a variable: never one of the server, and of the names with our
// prefix only its own.
func (c Connector) MayReceive(name string) bool {
	if isServerVariable(name) {
		return false
	}
	return !strings.HasPrefix(strings.ToUpper(name), "PDPP_") || strings.HasPrefix(name, c.Manifest.EnvPrefix()+"_")
}
