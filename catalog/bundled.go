package catalog

import (
	_ "embed"

	"github.com/loomrun/loom/internal/version"
)

// The definitions that ship with the program, as they are installed nowhere and fetched from nowhere.
var (
	//go:embed bundled/software-change-1.yaml
	softwareChange string
	//go:embed bundled/incident-response-1.yaml
	incidentResponse string
	//go:embed bundled/support-triage-1.yaml
	supportTriage string
	//go:embed bundled/system-query-1.yaml
	systemQuery string
	//go:embed bundled/inbound-answer-1.yaml
	inboundAnswer string
	//go:embed bundled/data-query-1.yaml
	dataQuery string
)

// engineeringVersion is the revision of the engineering protocols that are bundled.
const engineeringVersion = "0.3.0"

// The bundled entries are made once, so that each definition is compiled at most once however many
// catalogs hold it.
var (
	softwareChangeEntry   = newEntry("software-change@1", softwareChange, engineering("software-change"))
	incidentResponseEntry = newEntry("incident-response@1", incidentResponse, engineering("incident-response"))
	supportTriageEntry    = newEntry("support-triage@1", supportTriage, engineering("support-triage"))
	systemQueryEntry      = newEntry("system-query@1", systemQuery, own("system-query"))
	dataQueryEntry        = newEntry("data-query@1", dataQuery, own("data-query"))
	inboundAnswerEntry    = newEntry("inbound-answer@1", inboundAnswer, engineering("inbound-answer"))
)

// SystemQuery gives the bundled definition whose rules the clock binding serves (2.4).
func SystemQuery() *Entry { return systemQueryEntry }

// DataQuery gives the bundled definition of questions that are answered from the person's own data (D24, D40).
func DataQuery() *Entry { return dataQueryEntry }

// Bundled gives the catalog that intents are routed over (2.1, D24).
func Bundled() Catalog { return Engineered().with(systemQueryEntry).with(dataQueryEntry) }

// Engineered gives the bundled protocols of engineering work alone.
func Engineered() Catalog {
	return Catalog{}.with(softwareChangeEntry).with(incidentResponseEntry).with(supportTriageEntry)
}

// Plugins gives the protocols for programs that embed the runtime. They are neither listed nor
// routed to.
func Plugins() Catalog { return Catalog{}.with(inboundAnswerEntry) }

func engineering(stem string) Source {
	return Source{Engineering, "engineering-protocols", engineeringVersion, "protocols/" + stem + "/1.yaml"}
}

func own(stem string) Source {
	return Source{Loom, "loom", version.Number, "protocols/" + stem + "/1.yaml"}
}
