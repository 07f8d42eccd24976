package browser

import (
	"fmt"
	"regexp"
	"sync"
)

var profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,120}$`) })

// ProfileName names the profile that a connector uses for a subject, such as a connection;
// without one it has one profile for all. The name is one folder, wherever it is put.
func ProfileName(connectorKey, subject string) (string, error) {
	name := connectorKey
	if subject != "" {
		name += "__" + subject
	}
	if !profileName().MatchString(name) {
		return "", fmt.Errorf("%q cannot be the name of a browser profile: it has at most 120 letters, digits, underscores "+
			"and hyphens", name)
	}
	return name, nil
}
