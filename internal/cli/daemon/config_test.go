package daemon

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
)

// Flags that were not used come from the environment. An invalid value is rejected with the name of its variable.
func TestServeTakesItsVariables(t *testing.T) {
	config := func(vars map[string]string, f serveFlags) (serveFlags, string) {
		env := command.Env{
			Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
			LookPath: func(string) (string, error) { return "", os.ErrNotExist }, Now: time.Now,
		}
		inv := &command.Invocation{Env: env, HomeFlag: t.TempDir()}
		if f.role == "" {
			f.role = "all"
		}
		c, err := newServerConfig(inv, &f)
		if err != nil {
			return f, err.Error()
		}
		if c.Slots != f.slots || c.PerProvider != f.perProvider || c.LeaseTTL != f.leaseTTL {
			t.Errorf("%+v became %d, %d, %v", f, c.Slots, c.PerProvider, c.LeaseTTL)
		}
		return f, ""
	}
	all := map[string]string{command.EnvListen: "127.0.0.1:1", envMetrics: "9091", envLogFormat: "json",
		envLogLevel: "warn", envSlots: "7", envPerProvider: "3", envLeaseTTL: "45s"}
	f, problem := config(all, serveFlags{})
	if problem != "" || f.listen != "127.0.0.1:1" || f.metricsListen != "9091" || f.logFormat != "json" ||
		f.logLevel != "warn" || f.slots != 7 || f.perProvider != 3 || f.leaseTTL != 45*time.Second {
		t.Errorf("%+v %s", f, problem)
	}
	flags := serveFlags{role: "web", listen: "127.0.0.1:2", metricsListen: "1", logFormat: "text", logLevel: "info",
		slots: 1, perProvider: 1, leaseTTL: time.Minute}
	if f, problem = config(all, flags); problem != "" || f.listen != flags.listen || f.metricsListen != "1" ||
		f.logFormat != "text" || f.logLevel != "info" || f.slots != 1 || f.perProvider != 1 || f.leaseTTL != time.Minute {
		t.Errorf("%+v %s", f, problem)
	}
	for role, listen := range map[string]string{"all": command.DefaultListenAddress, "web": command.DefaultListenAddress,
		"worker": ""} {
		if f, problem = config(nil, serveFlags{role: role}); problem != "" || f.listen != listen {
			t.Errorf("%s: %+v %s", role, f, problem)
		}
	}
	for name, value := range map[string]string{envSlots: "many", envPerProvider: "0", envLeaseTTL: "soon"} {
		if _, problem := config(map[string]string{name: value}, serveFlags{}); !strings.Contains(problem, name) {
			t.Errorf("%s=%s: %q", name, value, problem)
		}
	}
	for _, f := range []serveFlags{{slots: -1}, {perProvider: -1}, {leaseTTL: shortestLease - 1}, {role: "boss"},
		{logLevel: "loud"}, {logFormat: "xml"}} {
		if _, problem := config(nil, f); problem == "" {
			t.Errorf("%+v is taken", f)
		}
	}
	if _, problem := config(nil, serveFlags{leaseTTL: shortestLease}); problem != "" {
		t.Error(problem)
	}
}
