package collector

// homeDirs returns the folders where Windows stores program data that is local to this machine.
func homeDirs(get func(string) string) (d Dirs, err error) {
	d.Profiles, err = under(get, "LOCALAPPDATA", "AppData", "Local")
	d.State = d.Profiles
	return d, err
}
