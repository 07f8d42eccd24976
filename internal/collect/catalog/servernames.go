package catalog

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// The names of this program's own variables. A connector chooses its name, and with it the
// prefix of its variables: one that calls itself backup would own PDPP_BACKUP_PASSPHRASE. So a
// variable is the server's if it begins with one of these words, whoever declares it.
var serverWords = []string{
	"ANSWER", "AUDIT", "BACKUP", "BASE", "BLOBS", "BROWSER", "BUILD", "CAPTURE", "CHAOS", "COLLECTOR", "CONNECT", "CONNECTION", "CONNECTOR", "CONNECTORS", "CREDENTIAL", "DATABASE", "DEVICE", "HOME", "LEASE", "LISTEN",
	"LOCAL", "LOG", "MAX", "METRICS", "NEW", "NOTIFY", "OUTBOX", "OWNER", "PASSKEY", "RECOVERY", "REFERENCE", "RUN", "SERVER", "SESSION", "SLOTS", "SOURCE", "STREAMING", "TEST", "TOKEN", "TRUSTED", "WEB",
}

// systemNames and systemPrefixes are variables by which a process finds other people's secrets,
// or by which its own code is replaced. No data source needs them.
var (
	systemNames    = []string{"HOME", "USER", "LOGNAME", "SHELL", "MAIL", "DATABASE_URL", "NODE_OPTIONS", "BASH_ENV", "ENV", "IFS", "NOTIFY_SOCKET", "PATH", "TMPDIR"}
	systemPrefixes = []string{"PGPASS", "PGUSER", "PGHOST", "PGPORT", "PGDATABASE", "PGSERVICE", "PGSSL", "OTEL_", "LD_", "DYLD_", "SSH_", "GPG_", "DBUS_", "XDG_", "SUDO_", "CREDENTIALS_", "KUBERNETES_", "DOCKER_", "AWS_", "PYTHON", "PERL5", "RUBY"}
)

// serverOwn reports whether a variable is never given to a connector, nor a file that holds it.
func serverOwn(name string) bool {
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
		if name != "" && !c.mayHave(name) {
			return &manifest.Problem{Path: folder.Manifest + ": setup.oauth." + member, What: "names " + name +
				", which a connector may not have",
				Fix: "name a variable that begins with " + c.Manifest.EnvPrefix() + "_"}
		}
	}
	return nil
}

// mayHave reports whether the connector may be given a variable: what is the server's never,
// and of the names that begin as ours do only its own.
func (c Connector) mayHave(name string) bool {
	if serverOwn(name) {
		return false
	}
	return !strings.HasPrefix(strings.ToUpper(name), "PDPP_") || strings.HasPrefix(name, c.Manifest.EnvPrefix()+"_")
}
