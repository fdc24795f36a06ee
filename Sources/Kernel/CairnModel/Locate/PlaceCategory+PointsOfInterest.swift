// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension PlaceCategory {
    /// The categories of points of interest from OpenStreetMap, well-known ones first; other
    /// sources may have others.
    public static let pointsOfInterest: [String] = """
        Airport, Heliport, Airport Terminal, Train Station, Public Transport Station, Bus Station, \
        Ferry Terminal, Cable Car Station, Tram Stop, Museum, Art Gallery, Zoo, Aquarium, Theme \
        Park, Tourist Attraction, Viewpoint, Artwork, Hotel, Motel, Hostel, Guest House, Holiday \
        Apartment, Mountain Hut, Campground, Picnic Site, Tourist Information, University, \
        College, Hospital, City Hall, Court House, Embassy, Library, Theater, Cinema, Arts Center, \
        Casino, Nightclub, School, Kindergarten, Place of Worship, Cemetery, Police Station, Fire \
        Station, Post Office, Prison, Clinic, Doctor, Dentist, Veterinarian, Pharmacy, Social \
        Facility, Community Center, Conference Center, Restaurant, Fast Food, Coffee Shop, Ice \
        Cream Shop, Bar or Pub, Bank, ATM, Currency Exchange, Gas Station, Charging Station, Car \
        Rental, Car Wash, Parking, Market, Public Bath, Fountain, Other, Stadium, Sports Center, \
        Fitness Center, Golf Course, Ice Rink, Swimming Pool, Water Park, Marina, Nature Reserve, \
        Park, Garden, Playground, Sports Field, Leisure, Castle, Ruin, Archaeological Site, \
        Monument, Memorial, Historic Site, Shopping Center, Department Store, Grocery Store, \
        Convenience Store, Bakery, Food Store, Book Store, Clothing Store, Hairdresser, Beauty \
        Salon, Car Dealer, Car Repair, Bicycle Shop, Drug Store, Electronics Store, Furniture \
        Store, Hardware Store, Jewelry Store, Sporting Goods Store, Travel Agency, Shop, \
        Government Office, Office, Lighthouse, Observatory, Tower, Bridge, Pier, Mountain, \
        Mountain Pass, Glacier, Lake or River, Bay, Strait, Beach, Cape, Cave, Spring, Forest, \
        Valley, Ridge, Cliff, Rock, Tree, Natural Feature, Island
        """.split(separator: ",").map { String($0.drop { $0 == " " }) }
}
