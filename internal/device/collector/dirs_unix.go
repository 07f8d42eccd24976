//go:build unix && !darwin

package collector

// homeDirs are where the XDG convention keeps configuration and state.
func homeDirs(get func(string) string) (d Dirs, err error) {
	if d.Profiles, err = under(get, "XDG_CONFIG_HOME", ".config"); err != nil {
		return Dirs{}, err
	}
	d.State, err = under(get, "XDG_STATE_HOME", ".local", "state")
	return d, err
}
