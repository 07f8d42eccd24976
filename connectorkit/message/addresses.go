package message

import (
	netmail "net/mail"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// angle is an id without the marks around it.
func angle(value string) string {
	value = plain(value)
	if _, rest, ok := strings.Cut(value, "<"); ok {
		value, _, _ = strings.Cut(rest, ">")
	}
	return strings.TrimSpace(value)
}

// ids are those of a header, in their order.
func ids(value string) (out []string) {
	value = plain(value)
	for len(out) < maxReferences {
		_, rest, ok := strings.Cut(value, "<")
		if !ok {
			return out
		}
		var id string
		if id, value, ok = strings.Cut(rest, ">"); !ok {
			return out
		}
		if id = localfile.Short(strings.TrimSpace(id), maxText); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

var addressParser = netmail.AddressParser{WordDecoder: &wordDecoder}

// addresses reads lists of addresses; one that does not keep the rules is read for what looks like
// an address.
func addresses(values []string) (out []*netmail.Address) {
	for _, value := range values {
		value = decoded([]byte(value), "")
		list, err := addressParser.ParseList(value)
		if err != nil {
			list = nil
			for _, part := range strings.Split(value, ",") {
				a := &netmail.Address{}
				name, rest, marked := strings.Cut(part, "<")
				if marked {
					a.Address, _, _ = strings.Cut(rest, ">")
					a.Name = strings.Trim(plain(name), `"' `)
				} else if strings.Contains(part, "@") {
					a.Address = part
				} else {
					a.Name = plain(part)
				}
				if a.Address = plain(a.Address); a.Address != "" || a.Name != "" {
					list = append(list, a)
				}
			}
		}
		for _, a := range list {
			if len(out) < maxAddresses {
				out = append(out, &netmail.Address{Name: localfile.Short(plain(a.Name), 300), Address: localfile.Short(plain(a.Address), 300)})
			}
		}
	}
	return out
}

func shown(a *netmail.Address) string {
	switch {
	case a.Name == "":
		return a.Address
	case a.Address == "":
		return a.Name
	}
	return a.Name + " <" + a.Address + ">"
}
