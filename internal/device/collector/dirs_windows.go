package collector

// homeDirs are where Windows keeps what belongs to a program on this machine alone.
func homeDirs(get func(string) string) (d Dirs, err error) {
	d.Profiles, err = under(get, "LOCALAPPDATA", "AppData", "Local")
	d.State = d.Profiles
	return d, err
}
