package libreoffice

import (
	"bytes"
	_ "embed" // the files of the profile
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed serve.bas
var serve []byte

// registry holds the settings of LibreOffice: no macros, no links, and a proxy that
// leads nowhere for everything that would reach the network all the same.
//
//go:embed registry.xcu
var registry []byte

const (
	libraries = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "libraries.dtd">
<library:libraries xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink">
 <library:library library:name="Standard" library:link="false"/>
</library:libraries>`
	library = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:library PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "library.dtd">
<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="true" library:passwordprotected="false">%s</library:library>`
	module = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">
<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Cairn" script:language="StarBasic">%s</script:module>`
)

// writeProfile writes the folder in which LibreOffice keeps its settings and macros.
func writeProfile(folder string) error {
	var code bytes.Buffer
	if err := xml.EscapeText(&code, serve); err != nil {
		return fmt.Errorf("write the profile of LibreOffice: %w", err)
	}
	basic := filepath.Join(folder, "user", "basic")
	if err := os.MkdirAll(filepath.Join(basic, "Standard"), 0o700); err != nil {
		return fmt.Errorf("write the profile of LibreOffice: %w", err)
	}
	for name, content := range map[string]string{
		filepath.Join(folder, "user", "registrymodifications.xcu"): string(registry),
		filepath.Join(basic, "script.xlc"):                         libraries,
		filepath.Join(basic, "dialog.xlc"):                         libraries,
		filepath.Join(basic, "Standard", "script.xlb"):             fmt.Sprintf(library, `<library:element library:name="Cairn"/>`),
		filepath.Join(basic, "Standard", "dialog.xlb"):             fmt.Sprintf(library, ""),
		filepath.Join(basic, "Standard", "Cairn.xba"):              fmt.Sprintf(module, code.String()),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return fmt.Errorf("write the profile of LibreOffice: %w", err)
		}
	}
	return nil
}
