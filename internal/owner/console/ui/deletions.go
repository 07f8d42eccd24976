package ui

import "net/url"

// DeletionsAddress lists what was deleted.
const DeletionsAddress = "/settings/deletions"

// DeletionAddress is the page of one deletion.
func DeletionAddress(id string) string { return DeletionsAddress + "/" + Segment(id) }

// DeleteAddress is the page that asks before something is deleted. Names and values follow each other.
func DeleteAddress(scope string, named ...string) string {
	asked := url.Values{"scope": {scope}}
	for i := 0; i+1 < len(named); i += 2 {
		asked.Set(named[i], named[i+1])
	}
	return DeletionsAddress + "/new?" + asked.Encode()
}
