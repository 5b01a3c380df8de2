#include "cli/command_table.h"

#include <array>

#include "cli/admin_commands.h"
#include "cli/config_commands.h"
#include "cli/explain_command.h"
#include "cli/kafka_commands.h"
#include "cli/manual.h"
#include "cli/reload_command.h"
#include "cli/spool_commands.h"
#include "cli/streams_canary.h"
#include "cli/streams_check.h"
#include "cli/streams_diff.h"
#include "cli/streams_list.h"
#include "cli/streams_resolve.h"
#include "cli/validate_command.h"

namespace sluice::cli {
namespace {

constexpr auto kCommands = std::to_array<Command>({
    {ServeSpec, Serve},
    {CheckConfigSpec, CheckConfig},
    {ReloadSpec, Reload},
    {ValidateSpec, Validate},
    {ExplainSpec, Explain},
    {TapSpec, Tap},
    {LogLevelSpec, LogLevel},
    {KafkaCheckSpec, KafkaCheck},
    {StreamsListSpec, StreamsList},
    {StreamsShowSpec, StreamsShow},
    {StreamsResolveSpec, StreamsResolve},
    {StreamsCheckSpec, StreamsCheck},
    {StreamsDiffSpec, StreamsDiff},
    {StreamsCanarySpec, StreamsCanary},
    {SpoolLsSpec, SpoolLs},
    {SpoolVerifySpec, SpoolVerify},
    {SpoolExportSpec, SpoolExport},
    {SpoolReplaySpec, SpoolReplay},
    {SpoolDropSpec, SpoolDrop},
    {PrintDocsSpec, PrintDocs},
});

constexpr std::array<Group, 2> kGroups = {{
    {"schemas", "Work on schema repositories: materialise, check, compare versions.",
     "sluice validate holds events against the schemas of a repository."},
    {"datasets", "Derive table definitions from streams.",
     "Schemas and stream configuration hold what they need."},
}};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

std::span<const Group> GroupsNotBuilt() { return kGroups; }

}  // namespace sluice::cli
