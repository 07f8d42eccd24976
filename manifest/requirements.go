package manifest

import "path"

// RuntimeRequirements declares what a connector needs from its machine.
type RuntimeRequirements struct {
	Bindings             map[Binding]BindingUse `json:"bindings,omitempty" doc:"Bindings by name. A run does not start when a required one is not offered."`
	ExternalTools        []ExternalTool         `json:"external_tools,omitempty" doc:"Programs that must be installed."`
	EnvironmentVariables []EnvironmentVariable  `json:"environment_variables,omitempty" doc:"Variables that the connector reads. It gets no others."`
	LocalPaths           LocalPaths             `json:"local_paths,omitempty" doc:"Files or folders that the connector reads: a list, or a home folder with paths below it."`
}

// BindingUse is how much a connector depends on a binding.
type BindingUse struct {
	Required bool `json:"required,omitempty" doc:"Whether a run is impossible without it. Absent: false."`
}

// ExternalTool is a program that a connector starts.
type ExternalTool struct {
	Name        string     `json:"name" rule:"required" doc:"Name of the tool."`
	Purpose     string     `json:"purpose,omitempty" doc:"What the connector uses it for."`
	Detect      ToolDetect `json:"detect" rule:"required" doc:"How readiness finds out whether the tool is installed."`
	InstallHint string     `json:"install_hint,omitempty" doc:"How the owner installs it."`
	License     string     `json:"license,omitempty" doc:"Licence of the tool."`
	MinVersion  string     `json:"min_version,omitempty" doc:"Oldest version that works."`
}

// ToolDetect is a command that exits with 0 if a tool is installed.
type ToolDetect struct {
	Executable            string   `json:"executable" rule:"required" doc:"Program to start."`
	Args                  []string `json:"args,omitempty" doc:"Its arguments."`
	ExitCode              int      `json:"exit_code,omitempty" rule:"max=255" doc:"The exit code that means installed. Absent: 0."`
	ExecutableEnvOverride string   `json:"executable_env_override,omitempty" rule:"pattern=env" doc:"Variable that names another executable."`
}

// EnvironmentVariable is one variable that a connector reads. Parse accepts a bare
// name.
type EnvironmentVariable struct {
	Name        string `json:"name" rule:"required,pattern=env" doc:"Name of the variable."`
	Description string `json:"description,omitempty" doc:"What it is for."`
	Required    bool   `json:"required,omitempty" doc:"Whether a run is impossible without it. Absent: false."`
	Secret      bool   `json:"secret,omitempty" doc:"Whether its value is sealed at rest and redacted everywhere. Absent: false."`
}

// LocalPaths are files or folders that a connector reads. Parse also accepts the form of a home folder with paths
// below it.
type LocalPaths []LocalPath

// LocalPath is a file or folder that a connector reads.
type LocalPath struct {
	PathEnv     string `json:"path_env" rule:"required,pattern=env" doc:"Variable that holds the path."`
	Description string `json:"description,omitempty" doc:"What is expected there."`
	Required    bool   `json:"required,omitempty" doc:"Whether a run is impossible without it. Absent: false."`
	Default     string `json:"default,omitempty" doc:"Where it is when the variable is not set: a path below that of within, or else below the owner's home folder."`
	Within      string `json:"within,omitempty" rule:"pattern=env" doc:"Variable of an earlier path that default lies below."`
}

// homePaths is the alternative form of LocalPaths.
type homePaths struct {
	HomeEnvOverride string      `json:"home_env_override,omitempty" rule:"pattern=env" doc:"Variable that names the home folder of the source."`
	HomeDefault     string      `json:"home_default_relative_to_user_home,omitempty" doc:"That folder, below the owner's home folder, when the variable is not set."`
	Paths           []homedPath `json:"paths,omitempty" doc:"Files or folders below it."`
}

type homedPath struct {
	EnvOverride string `json:"env_override" rule:"required,pattern=env" doc:"Variable that holds the path."`
	Default     string `json:"default_relative_to_home,omitempty" doc:"Where it is below the home folder of the source when the variable is not set."`
	Label       string `json:"label,omitempty" doc:"What is expected there."`
	Required    bool   `json:"required_for_readiness,omitempty" doc:"Whether a run is impossible without it. Absent: false."`
}

func (h homePaths) list() LocalPaths {
	var all LocalPaths
	if h.HomeEnvOverride != "" {
		all = append(all, LocalPath{PathEnv: h.HomeEnvOverride, Default: h.HomeDefault})
	}
	for _, p := range h.Paths {
		below := p.Default
		if h.HomeEnvOverride == "" && below != "" {
			below = path.Join(h.HomeDefault, below)
		}
		all = append(
			all,
			LocalPath{
				PathEnv:     p.EnvOverride,
				Description: p.Label,
				Required:    p.Required,
				Default:     below,
				Within:      h.HomeEnvOverride,
			},
		)
	}
	return all
}
