// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import ArgumentParser
package import Settings

/// The arguments that every process has.
package struct DaemonOptions: ParsableArguments, Sendable {
    /// The site's directory.
    @Option(help: "The site's directory; else the environment variable CAIRN_SITE.")
    package var site: String?

    /// The file of settings.
    @Option(help: "A file of settings; else the environment variable CAIRN_CONFIG.")
    package var config: String?

    /// Whether settings are only checked.
    @Flag(help: "Check the settings, write a line for each that is wrong, and end.")
    package var check = false

    /// Whether the example is printed.
    @Flag(help: "Print a file with every setting, commented out, and end.")
    package var printConfig = false

    /// Made by the argument parser.
    package init() {}

    /// The common settings and some more, from arguments, the environment and the file.
    package func settings(
        _ further: [Setting] = [], arguments: [Setting: String?] = [:]
    ) -> Settings {
        var given: [String: String] = [:]
        for (setting, text) in arguments {
            if let option = setting.option { given[option] = text }
        }
        given["--site"] = site
        return Settings(Setting.common + further, arguments: given, file: config)
    }
}
