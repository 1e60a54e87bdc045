package blob

import "net/url"

// OpenFolder is Open of a folder that syncs its folders with sync.
func OpenFolder(address string, sync func(folder string) error) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return openFolder(u, sync)
}
