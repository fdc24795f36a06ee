// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A locator file, asked without a service.
protocol LocatorFile: Sendable {
    func load() async throws -> LocatorInfo
    func geocode(
        _ search: [(name: String, value: String)], _ values: GeocodeParameters.Values
    ) async throws -> [GeocodeResult]
    func suggest(_ text: String, _ values: SuggestParameters.Values) async throws -> [SuggestResult]
    func reverse(
        _ location: Point, _ values: ReverseGeocodeParameters.Values
    ) async throws -> [GeocodeResult]
}
