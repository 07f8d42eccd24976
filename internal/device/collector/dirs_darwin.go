package collector

// homeDirs are where macOS keeps what belongs to a program.
func homeDirs(get func(string) string) (d Dirs, err error) {
	if d.Profiles, err = under(get, "XDG_CONFIG_HOME", "Library", "Application Support"); err != nil {
		return Dirs{}, err
	}
	d.State, err = under(get, "XDG_STATE_HOME", "Library", "Application Support")
	return d, err
}
