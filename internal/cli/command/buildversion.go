package command

import (
	"runtime"
	"runtime/debug"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// BuildInfo is the version of the running program.
type BuildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitzero"`
	Modified bool   `json:"modified,omitzero"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Schema   int64  `json:"schema"` // of the database
}

// ReadBuildInfo returns the version that the Go toolchain recorded, and that of the database schema.
func ReadBuildInfo() BuildInfo {
	v := BuildInfo{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Schema: sqlite.SchemaVersion()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
